# Records, and the calls of the server (docs/reference/logic.md#a-record). The names and the plain forwarding methods of host functions come
# from their table (server/src/logic/host-functions/generated.ts).

_limits = {'resultSize': 0, 'messageSize': 0, 'logEntrySize': 0}

_infinity = float('inf')


class AppsError(Exception):
    """The error of a call of the server. Its class has the name of the error, for instance ConflictError."""


_host_errors = {}


def _host_error(error):
    kind = _host_errors.get(error['name'])
    if kind is None:
        kind = _host_errors[error['name']] = type(error['name'], (AppsError,), {})
    made = kind(error['message'])
    made.host = error['host']
    return made


def _exchange(calls):
    """Makes host calls, in order, in one round trip."""
    return _answer(_message(calls))


def _message(calls):
    message = _text(calls, calls[-1][0])
    if len(message) > _limits['messageSize']:
        raise ValueError('%s: more than %d characters of arguments' % (calls[0][0], _limits['messageSize']))
    return message


def _answer(message):
    answer = _bridge(_OP_HOST_CALLS + message)
    if answer == _TIME_IS_OVER:
        # The time is over: the traceback says where.
        raise KeyboardInterrupt
    return _read(answer)


# The identity map, in parts: a full table of MicroPython compares a new key with all others of it.
_TABLES = 256
_known = [{} for _ in range(_TABLES)]
# States of records that may have changes.
_touched = []
# Content items with fields that logic has assigned to.
_assigned = []


def _call(name, **arguments):
    """One round trip: the pending changes, then the call itself."""
    if name in _UNFLUSHED:
        return _values(_exchange([[name, arguments]]), 1)[0]
    return _send([[name, arguments]])


# The error of a change that the server did not make: the request fails with it if logic catches it.
_refused = None


def _ended(failure=None):
    """A function has ended. Raises the error of a change that the server did not make, unless it is the one with which the
    function failed: where that is contained, an error mark shows it."""
    global _refused
    if _refused is not None and not (_refused is failure and _native_isinstance(failure, AppsError)):
        raise _refused
    _refused = None


def _send(last):
    """One round trip: the pending changes, then the calls of `last`. Changes that cannot be sent stay pending."""
    if _refused is not None:
        raise _refused
    changed = []
    for state in _touched:
        pending = state.pending()
        if pending:
            changed.append((state,) + pending)
    contents = list(_assigned)
    changes = [['changeRecord', {'app': state.app, 'id': state.id, 'change': change}] for state, change, _ in changed]
    changes += [['contentUpdate', {'data': content._changes}] for content in contents]
    if not changes and not last:
        return None
    answer = _deliver(_message(changes + last), changed, contents)
    values = answer['values']
    for (state, _, _), data in zip(changed, values):
        state.refresh(data)
    for content, data in zip(contents, values[len(changed) :]):
        content._show(data)
    if answer.get('error'):
        raise _refused if len(values) < len(changes) else _host_error(answer['error'])
    return values[-1] if last else None


def _deliver(message, changed, contents):
    """Sends a message that begins with these changes, which are then no longer pending; returns its answer."""
    global _refused
    try:
        answer = _answer(message)
        # The server has not made the changes after a refused one: they stay pending.
        count = len(answer['values']) + 1
        for state, _, copies in changed[:count]:
            state.sent(copies)
        for state in _touched:
            state.touched = bool(state.held)
        for state, _, _ in changed[count:]:
            state.touched = True
        _touched[:] = [state for state in _touched if state.touched]
        sent = contents[: max(0, count - len(changed))]
        for content in sent:
            content._changes.clear()
        _assigned[:] = [content for content in _assigned if content not in sent]
        if count <= len(changed) + len(contents):
            _refused = _host_error(answer['error'])
        return answer
    except BaseException as error:
        # The answer is lost: nothing tells which changes were made.
        if changed or contents:
            _refused = error
        raise


def _values(answer, count):
    if answer.get('error'):
        raise _host_error(answer['error'])
    return answer['values']


def _table_of(id):
    """The part of the identity map that has a record with this id."""
    return _known[hash(id) % _TABLES]


def _adopt(app, data):
    id = data['id']
    part = _known[hash(id) % _TABLES]
    record = part.get((app, id))
    if record is None:
        record = part[(app, id)] = Record(_State(app, data))
    else:
        record._state.refresh(data)
    return record


def _forget(app, id):
    """Takes a record out of the identity map, and returns it."""
    return _table_of(id).pop((app, id), None)


_NOTHING = {}


class _State:
    """
    A record's items as logic sees them, and the changes since the server last saw them. Most records are only read, so that
    those have no containers of their own for changes before `touch`.
    """

    stale = deleted = False
    changed = removed = ()
    # Numbers that were added; lists and dictionaries that logic holds, with what is in them as the server knows it: they may
    # change inside.
    added = {}
    # Who has created it, in a list, once logic has asked.
    creator = ()

    def __init__(self, app, data):
        self.app = app
        self.id = data['id']
        self.url = data['url']
        self.items = items = data['items']
        # Made at once: an attribute that is added later moves the others, and then MicroPython looks through its whole memory.
        self.touched = False
        self.held = _NOTHING
        items.pop('id', None)

    def refresh(self, data):
        items = data['items']
        items.pop('id', None)
        for name in list(self.held):
            mine = self.items.get(name)
            if _is_held(mine) and _is_same(mine, items.get(name)):
                items[name] = mine
                self.held[name] = _copied(mine)
            else:
                del self.held[name]
        self.id = data['id']
        self.url = data['url']
        self.items = items
        self.stale = False

    def fresh(self):
        """
        The state, read again if other code may have changed the record. What logic has meanwhile changed inside of a list or a
        dictionary is sent first: it would be replaced by what is read.
        """
        if self.stale:
            call = ['getRecord', {'app': self.app, 'id': self.id}]
            data = _send([call]) if self.pending() else _values(_exchange([call]), 1)[0]
            self.stale = False
            if data is None:
                self.deleted = True
            else:
                self.refresh(data)
        return self

    def writable(self):
        if self.fresh().deleted:
            raise AppsError('the record %s has been deleted' % self.id)
        return self

    def touch(self):
        """Called before a change."""
        self.hold()
        if self.changed == ():
            self.changed, self.removed, self.added = set(), set(), {}

    def hold(self):
        """Called before logic gets a list or a dictionary: it may change inside."""
        if self.touched:
            return
        self.touched = True
        _touched.append(self)
        if self.held is _NOTHING:
            self.held = {}

    def read(self, name):
        value = self.items[name]
        if _is_held(value) and name not in self.changed and name not in self.held:
            self.hold()
            self.held[name] = _copied(value)
        return value

    def set(self, name, value):
        if not _native_isinstance(name, str):
            raise TypeError('the name of an item is a string')
        if name == 'id':
            if str(value) != self.id:
                raise AppsError('the id of a record cannot be changed')
            return
        plain = _plain(value, 'the item ' + name, True)
        # Lists and dictionaries stay what they are, so that logic may go on filling them.
        self.touch()
        self.items[name] = value if type(value) in (list, dict) else plain
        self.changed.add(name)
        self.removed.discard(name)
        self.added.pop(name, None)

    def remove(self, name):
        if name not in self.items:
            raise KeyError(name)
        self.touch()
        del self.items[name]
        self.held.pop(name, None)
        self.changed.discard(name)
        self.added.pop(name, None)
        self.removed.add(name)

    def inc(self, name, by):
        value = self.items.get(name, 0)
        if not _native_isinstance(by, (int, float)) or not _native_isinstance(value, (int, float)):
            raise TypeError('inc: %s and what is added to it are numbers' % name)
        # What is infinite is an overflow below.
        exact = _plain(by, 'what is added to ' + name, True) if _native_isinstance(by, int) else by
        added = self.added.get(name, 0) + exact
        if not (-_infinity < value + by < _infinity and -_infinity < added < _infinity):
            raise OverflowError('inc: the sum in %s is too large' % name)
        if name in self.changed or name in self.removed:
            self.set(name, value + by)
        else:
            self.touch()
            self.items[name] = value + by
            self.added[name] = added
        return value + by

    def pending(self):
        """The changes that the server does not have yet, and copies of held values in them; None if there are none."""
        for name, known in self.held.items():
            if name in self.items and name not in self.changed and not _is_same(self.items[name], known):
                self.touch()
                self.changed.add(name)
        if self.deleted or not (self.changed or self.removed or self.added):
            return None
        change, copies = {}, {}
        if self.changed:
            change['set'] = items = {name: self.items.get(name) for name in self.changed}
            copies = {name: _plain(items[name], 'the item ' + name, True) for name in items if _is_held(items[name])}
            items.update(copies)
        if self.removed:
            change['unset'] = list(self.removed)
        if self.added:
            change['inc'] = self.added
        return change, copies

    def sent(self, copies):
        """Counts the pending changes as sent."""
        self.held.update(copies)
        self.changed, self.removed, self.added = set(), set(), {}


def _is_held(value):
    return _native_isinstance(value, (list, dict))


_SIMPLE = (str, int, float, bool, type(None))


def _copied(value):
    """A copy of what is in a list or dictionary, as JSON has it: shows later whether that has changed."""
    if type(value) in _SIMPLE:
        return value
    if _native_isinstance(value, (list, tuple)):
        return [item if type(item) in _SIMPLE else _copied(item) for item in value]
    if _native_isinstance(value, dict):
        return {_key(key): _copied(value[key]) for key in value.keys()}
    return _copied(_plain(value))


def _is_same(value, known):
    """Whether a value is what `_copied` has made of it. Numbers are compared with their types, because 1 == True."""
    if type(value) in _SIMPLE:
        return value is known or (type(value) is type(known) and value == known)
    if _native_isinstance(value, (list, tuple)):
        if type(known) is not list or len(value) != len(known):
            return False
        for mine, other in zip(value, known):
            if mine is not other and not _is_same(mine, other):
                return False
        return True
    if _native_isinstance(value, dict):
        if type(known) is not dict or len(value) != len(known):
            return False
        for key in value.keys():
            text = _key(key)
            if text not in known or not _is_same(value[key], known[text]):
                return False
        return True
    return _is_same(_plain(value), known)


def _spread():
    """Code that ran inside a call may have changed any record."""
    for part in _known:
        for record in part.values():
            record._state.stale = True


class Record(_RecordCalls):
    """A record is used like a dictionary; items are properties too, where no method has the name."""

    def __init__(self, state):
        object.__setattr__(self, '_state', state)

    @property
    def id(self):
        return self._state.id

    @property
    def url(self):
        return self._state.fresh().url

    path = url

    @property
    def creator(self):
        """Who has created the record; asked for at the first use, because it is an account of its own."""
        state = self._state.fresh()
        if not state.creator:
            data = _call('recordCreator', app=state.app, id=state.id)
            state.creator = [data and _Data(data)]
        return state.creator[0]

    @creator.setter
    def creator(self, value):
        # Without it MicroPython says that there is no such attribute.
        self.__setattr__('creator', value)

    def absolute_url(self):
        return self.url

    def __getitem__(self, name):
        if name == 'id':
            return self.id
        state = self._state.fresh()
        if name not in state.items:
            raise KeyError(name)
        return state.read(name)

    def __getattr__(self, name):
        # Rapido's name of the id; an item with this name wins.
        if name == 'uid' and name not in self:
            return self.id
        if name.startswith('__') or name not in self:
            raise AttributeError("the record has no item '%s'" % name)
        return self[name]

    def __setattr__(self, name, value):
        if hasattr(Record, name) and name != 'id':
            raise AttributeError("%s belongs to every record: use record['%s'] for an item of that name" % (name, name))
        self._state.writable().set(name, value)

    def __setitem__(self, name, value):
        self._state.writable().set(name, value)

    def __delitem__(self, name):
        self._state.writable().remove(name)

    __delattr__ = __delitem__

    def __contains__(self, name):
        return name == 'id' or name in self._state.fresh().items

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __bool__(self):
        return True

    def __eq__(self, other):
        return _native_isinstance(other, Record) and other._state is self._state

    def __hash__(self):
        return hash(self._state.id)

    def __repr__(self):
        return '<Record %s>' % self.id

    def get(self, name, default=None):
        return self[name] if name in self else default

    def set(self, name, value=None):
        if _native_isinstance(name, (dict, Record)):
            self.update(name)
        else:
            self[name] = value
        return self

    def pop(self, name, *default):
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, items=None, **more):
        is_record = _native_isinstance(items, Record)
        # A copy: two records do not share what is in their lists.
        items = _plain(items) if is_record else dict(items or {})
        if is_record:
            del items['id']
        items.update(more)
        for name in items.keys():
            self[name] = items[name]

    def keys(self):
        return ['id'] + [name for name in self._state.fresh().items if name != 'id']

    def values(self):
        return [self[name] for name in self.keys()]

    def items(self):
        found = _Items()
        for name in self.keys():
            found[name] = self[name]
        return found

    def get_item(self, name, default=None):
        return self.get(name, default)

    def set_item(self, name, value):
        self[name] = value

    def has_item(self, name):
        return name in self

    def remove_item(self, name):
        del self[name]

    def inc(self, name, by=1):
        return self._state.writable().inc(name, by)

    def save(self, items=None, block_id=None, block=None, creation=False, request=None):
        """Returns what the block's `on_save` returned; the record if no block was involved."""
        given = request if items is None else items
        form = _native_isinstance(given, Request)
        if form:
            _note('request.form')
        if form and given is not _context.request:
            raise TypeError('save: a record is saved with context.request')
        if given is not None and not form:
            self.update(given)
        state = self._state.writable()
        wanted = block if block_id is None else block_id
        saved = _call(
            'saveRecord',
            app=state.app,
            id=state.id,
            block=None if wanted is None else _id(wanted, 'save'),
            creation=bool(creation),
            form=form,
        )
        _spread()
        # At its creation a record may get its id from the block's `record_id`.
        if saved['record']['id'] != state.id:
            _forget(state.app, state.id)
        state.refresh(saved['record'])
        _table_of(state.id)[(state.app, state.id)] = self
        return saved['returned'] if saved['ran'] else self

    def set_block(self, block_id):
        self['block'] = block_id
        return self

    def display(self, edit=False):
        state = self._state.writable()
        html = _call('displayRecord', app=state.app, id=state.id, edit=bool(edit))
        _spread()
        return html
