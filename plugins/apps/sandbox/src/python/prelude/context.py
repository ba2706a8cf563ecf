# The objects of `context` (docs/reference/logic.md#context).


def _read_only(self, name, value):
    raise AttributeError("'%s' cannot be changed" % name)


class _Data:
    """Data of the server, as properties."""

    def __init__(self, data):
        object.__setattr__(self, '_data', data)

    def __getattr__(self, name):
        data = object.__getattribute__(self, '_data') if hasattr(object, '__getattribute__') else self.__dict__['_data']
        if name in data:
            return data[name]
        raise AttributeError("there is no '%s'" % name)

    __setattr__ = _read_only

    def _as_json(self):
        """What it is as JSON: its data, without what only the prelude uses."""
        own = (Acl, Response)
        return {
            name: value
            for name, value in self._data.items()
            if name[:1] != '_' and not _native_isinstance(value, own)
        }

    def absolute_url(self):
        return self.url


class Block(_Data):
    """A reference to a block; equal to its id, which is what Rapido gives."""

    def __init__(self, data, app=None):
        super().__init__(data)
        object.__setattr__(self, '_app', app)

    @property
    def elements(self):
        return _call('blockElements', app=self._app, id=self.id)

    @property
    def places(self):
        places = _call('blockPlaces', app=self._app, id=self.id)
        return None if places is None else _Data(places)

    def display(self, record=None, edit=False):
        about = None if record is None else _id(record, 'display')
        html = _call('displayBlock', app=self._app, id=self.id, record=about, edit=bool(edit))
        _spread()
        return html

    def __eq__(self, other):
        return self.id == (other.id if _native_isinstance(other, Block) else other)

    def __hash__(self):
        return hash(self.id)

    def __str__(self):
        return self.id

    __repr__ = __str__


class Content(_Data):
    def __init__(self, data):
        self._show(data)

    def _show(self, data):
        fields = dict(data['fields'])
        fields.update({name: data[name] for name in data if name != 'fields'})
        object.__setattr__(self, '_data', fields)

    def __setattr__(self, name, value):
        raise AttributeError("'%s' cannot be changed here: use context.api.documents" % name)

    def __getitem__(self, name):
        return self._data[name]

    def __contains__(self, name):
        return name in self._data

    def get(self, name, default=None):
        return self._data.get(name, default)

    def absolute_url_path(self):
        return self.path

    def getURL(self):
        return self.url

    def getPath(self):
        return self.path

    def getObject(self):
        return self


# Properties that cannot be assigned to: the server computes them.
_FIXED = ('type', 'id', 'documentId', 'url', 'path')


class CurrentContent(Content):
    """
    The content item of the address: what is assigned to its fields is sent with the next call; at once where it will be
    refused, so that the error names the line of the assignment.
    """

    def __init__(self, data, may_change):
        super().__init__(data)
        object.__setattr__(self, '_changes', {})
        object.__setattr__(self, '_may_change', may_change)

    def __setattr__(self, name, value):
        if name in _FIXED or hasattr(CurrentContent, name):
            raise AttributeError("'%s' of a content item cannot be changed" % name)
        field = _plain(value, 'the field ' + name, True)
        _note('request.method')
        if not self._may_change:
            self.update({name: field})
            return
        self._changes[name] = field
        self._data[name] = _plain(field)
        if self not in _assigned:
            _assigned.append(self)

    def update(self, data=None, **more):
        changes = dict(data or {})
        changes.update(more)
        self._show(_call('contentUpdate', data=changes))
        return self


def _content_at(path):
    data = _call('portalGet', path=path)
    return data and Content(data)


def _find_content(
    context=None, depth=None, portal_type=None, type=None, sort_on=None, sort_order=None, sort_limit=None, **filters
):
    if portal_type is None and type is None:
        raise TypeError('find: a portal_type is needed')
    order = 'desc' if sort_order in ('descending', 'reverse') else 'asc'
    sort = None if sort_on is None else '%s:%s' % (sort_on, order)
    wanted = type if portal_type is None else portal_type
    return [Content(data) for data in _call('contentFind', type=wanted, filters=filters, sort=sort, limit=sort_limit)]


def _create_content(container=None, type=None, id=None, title=None, safe_id=False, portal_type=None, **fields):
    if type is None and portal_type is None:
        raise TypeError('create: a type is needed')
    if title is not None:
        fields['title'] = title
    return Content(_call('contentCreate', type=portal_type if type is None else type, id=id, data=fields))


def _transition_content(obj=None, transition=None, to_state=None):
    if not _native_isinstance(obj, Content) or obj.documentId is None:
        raise TypeError('transition: a content item is needed')
    wanted = to_state if transition is None else transition
    _call('contentTransition', type=obj.type, documentId=obj.documentId, transition=wanted)


class Portal(_Data):
    def get(self, path=''):
        return _content_at(path)

    def __getitem__(self, path):
        found = _content_at(path)
        if found is None:
            raise KeyError(path)
        return found

    def day_begin(self, day='', days=0):
        given = '' if day is None else day.isoformat() if hasattr(day, 'isoformat') else day
        if not _native_isinstance(given, str):
            raise TypeError('day_begin: a day is a text such as 2026-03-01, or a date')
        if not _native_isinstance(days, int):
            raise TypeError('day_begin: days are a whole number')
        now = _milliseconds() if given == '' else 0
        answer = _read(_bridge(_OP_DAY_BEGIN + _text([self.time_zone, now, given, days])))
        if isinstance(answer, str):
            raise ValueError(answer)
        return answer[0]


def _milliseconds():
    return int(_time.time() * 1000)


class Acl:
    def __init__(self, data):
        self._acl = data

    def _held(self):
        """What follows from the requester's groups, and from the names that rights and roles list."""
        _note('groups')
        return self._acl

    def current_user(self):
        _note('acl')
        return self._acl['username']

    def current_user_groups(self):
        return list(self._held()['groups'])

    def has_access_right(self, access_right):
        held = self._held()
        return held['manager'] or access_right in held['rights']

    def has_role(self, role_id):
        return role_id in self._held()['held']

    def roles(self):
        return list(self._held()['roles'])

    def is_manager(self):
        return self._held()['manager']


class _Page(list):
    cursor = None


def _id(value, what):
    if _native_isinstance(value, (Record, Block)):
        return value.id
    if value is None:
        raise TypeError('%s: an id is needed' % what)
    if not _native_isinstance(value, (str, int)) or value is True or value is False:
        raise TypeError('%s: an id is a string' % what)
    return str(value)


class App(_Data, _AppCalls):
    def __init__(self, key, data, acl):
        super().__init__(data)
        fixed = self._data
        fixed['_key'] = key
        fixed['acl'] = Acl(acl)
        fixed['blocks'] = [Block(block, key) for block in data['blocks']]

    def log(self, *messages):
        _log(*messages)

    # Rapido's name.
    add_message = log

    @property
    def messages(self):
        """What this block has logged so far, also by `print`."""
        return list(_logged)

    def create_record(self, id=None):
        given = None if id is None else _id(id, 'create_record')
        return _adopt(self._key, _call('createRecord', app=self._key, id=given))

    def get_record(self, id):
        data = _call('getRecord', app=self._key, id=_id(id, 'get_record'))
        return data and _adopt(self._key, data)

    def delete_record(self, id=None, record=None, on_delete=True, ondelete=True):
        wanted = _id(record if id is None else id, 'delete_record')
        runs = bool(on_delete and ondelete)
        deleted = _call('deleteRecord', app=self._key, id=wanted, on_delete=runs)
        gone = _forget(self._key, wanted)
        if gone is not None:
            gone._state.deleted = True
        if runs:
            _spread()
        return deleted

    def records(self, limit=None, cursor=None, own=False):
        """All records; with `limit`, a page of them, whose `cursor` asks for the next one."""
        if limit is None and cursor is None:
            return list(self._records(own))
        page = _call('records', app=self._key, options={'limit': limit, 'cursor': cursor, 'own': True if own else None})
        found = _Page([_adopt(self._key, data) for data in page['records']])
        found.cursor = page['cursor']
        return found

    def _records(self, own=False):
        cursor = None
        while True:
            page = self.records(limit=1000, cursor=cursor, own=own)
            for record in page:
                yield record
            cursor = page.cursor
            if cursor is None:
                return

    def search(self, query='', sort_index=None, reverse=False, limit=None, offset=None, names=None, own=False, block=None):
        options = {'sort_index': sort_index, 'reverse': bool(reverse), 'limit': limit, 'offset': offset, 'names': names}
        options['own'] = True if own else None
        options['block'] = block
        found = _call('search', app=self._key, query=query, options=options)
        return [_adopt(self._key, data) for data in found]

    def _search(self, query='', sort_index=None, reverse=False):
        return iter(self.search(query, sort_index, reverse))

    def get_block(self, block_id):
        for block in self.blocks:
            if block == block_id:
                return block
        return None


class Response:
    def __init__(self):
        self._status = None

    def _get_status(self):
        return self._status

    def setStatus(self, status):
        _call('respond', changes={'status': status})
        self._status = status

    status = property(_get_status, setStatus)

    def set_header(self, name, value):
        _call('respond', changes={'headers': {str(name): str(value)}})

    def redirect(self, url):
        _call('respond', changes={'redirect': str(url)})

    setHeader = set_header


# Parts of a request that are noted when they are read. Its dictionaries are noted as a whole: MicroPython's built-ins take
# the content of a dictionary without calling methods.
_NOTED_PARTS = {name: name for name in ('method', 'url', 'path', 'query', 'form', 'body', 'headers')}
_NOTED_PARTS['URL'] = 'url'


class Request(_Data):
    def __init__(self, data, response):
        super().__init__(dict(data))
        # As in Rapido: without the query.
        self._data['URL'] = data['url'].split('?')[0].split('#')[0]
        if response:
            self._data['response'] = response
        object.__setattr__(self, '_name', 'request.' if response else 'parent_request.')

    def __getattr__(self, name):
        if name in _NOTED_PARTS:
            _note(self._name + _NOTED_PARTS[name])
        return _Data.__getattr__(self, name)

    def _as_json(self):
        for part in _NOTED_PARTS.values():
            _note(self._name + part)
        return _Data._as_json(self)

    def _find(self, name):
        """Where the value is; only the places that come before it are looked at too."""
        for part in ('form', 'body', 'query'):
            _note(self._name + part + ('' if part == 'body' else '.' + str(name)))
            source = self._data[part]
            if _native_isinstance(source, dict) and name in source:
                return source
        return {'BODY': _text(self.body)} if name == 'BODY' else None

    def get(self, name, default=None):
        source = self._find(name)
        return default if source is None else source[name]

    def has(self, name):
        return self._find(name) is not None

    __contains__ = has
    has_key = has

    def __getitem__(self, name):
        source = self._find(name)
        if source is None:
            raise KeyError(name)
        return source[name]

    def keys(self):
        names = []
        for source in (self.form, self.body, self.query):
            if _native_isinstance(source, dict):
                names += [name for name in source if name not in names]
        return names


class _Documents:
    def __init__(self, uid):
        for name in _DOCUMENT_METHODS:
            setattr(self, name, self._method(uid, name))

    def _method(self, uid, name):
        def method(params=None, **more):
            all_params = dict(params or {})
            all_params.update(more)
            return _call('documents', uid=uid, method=name, params=all_params)

        return method


class _Api:
    def __init__(self, user, content, portal):
        self.documents = _Documents
        self.content = content
        self.portal = _Named(get=lambda: portal)
        self._user = user

    def __getattr__(self, name):
        if name == 'user':
            _note('user')
            return self._user
        raise AttributeError("there is no '%s'" % name)


class _Named:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


class _User(_Data):
    """The requester; also a dictionary. For anonymous it is falsy, equals None, and is null as JSON."""

    def __eq__(self, other):
        return other is self or (other is None and not self)

    def __hash__(self):
        return hash(self._data.get('id'))

    def is_anonymous(self):
        return not self

    def __bool__(self):
        return len(self._data) > 0

    def __getitem__(self, name):
        return self._data[name]

    def get(self, name, default=None):
        return self._data.get(name, default)

    def get_current(self):
        return self

    def getProperty(self, name, default=None):
        return self._data.get(name, default)

    def getUserName(self):
        return self._data.get('username')

    getId = getUserName


_ESCAPED = (('&', '&amp;'), ('<', '&lt;'), ('>', '&gt;'), ('"', '&quot;'), ("'", '&#39;'))


def _escape_html(text):
    text = '' if text is None else str(text)
    for letter, entity in _ESCAPED:
        text = text.replace(letter, entity)
    return text


_logged = []


def _log(*messages):
    message = ' '.join([_log_text(message) for message in messages])[: _limits['logEntrySize']]
    _call('log', message=message, stack=_stack_here())
    _logged.append(message)


def _flash(message=None):
    _call('flash', message=message)


def _invalid(element=None, message=None):
    _call('invalid', element=element or None, message=message)


def _log_text(message):
    if _native_isinstance(message, str):
        return message
    try:
        return _text(message)
    except Exception:
        return repr(message)


def _print(*values, sep=' ', **_others):
    _log(sep.join([str(value) for value in values]))


def _send_mail(to=None, subject=None, text=None, html=None, reply_to=None):
    if _native_isinstance(to, dict):
        return _send_mail(**to)
    mail = {'subject': subject, 'text': text, 'html': html, 'reply_to': reply_to}
    if to is not None:
        mail['to'] = list(to) if _native_isinstance(to, (list, tuple)) else [to]
    _call('sendMail', mail=mail)


class FetchAnswer(_Data):
    @property
    def json(self):
        if 'json' not in self._data:
            try:
                self._data['json'] = _json_loads(self._data['text'])
            except ValueError:
                self._data['json'] = None
        return self._data['json']


def _call_fetch(name, url, method=None, headers=None, body=None, timeout=None):
    """As JavaScript, it also takes a dictionary of options after the address."""
    options = {'headers': headers, 'body': body, 'timeout': timeout}
    options.update(method if _native_isinstance(method, dict) else {'method': method})
    return _call(name, url=url if url is None else str(url), options=options)


def _fetch(url=None, *given, **named):
    data = _call_fetch('fetch', url, *given, **named)
    data['ok'] = 200 <= data['status'] <= 299
    return FetchAnswer(data)


def _add_fetch(url=None, *given, **named):
    return _call_fetch('addFetch', url, *given, **named)


def _add_job(target=None, params=None, *, delay=None, at=None, key=None):
    options = {'delay': delay, 'at': at, 'key': key}
    return _call('addJob', target=target, params=params, options=options)


class Context:
    """The documented properties are read only; logic may set any others."""

    def __init__(self, data):
        app = App(None, data['app'], data['acl'])
        portal = Portal(data['portal'])
        content = _Named(
            get=lambda path='': _content_at(path),
            find=_find_content,
            create=_create_content,
            transition=_transition_content,
        )
        fixed = {
            'app': app,
            'block': data['block'] and Block(data['block']),
            'record': data['record'] and _adopt(None, data['record']),
            'request': Request(data['request'], Response()),
            'parent_request': data['parent_request'] and Request(data['parent_request'], None),
            'portal': portal,
            'content': data['content'] and CurrentContent(data['content'], data['request']['method'] == 'POST'),
            'api': _Api(_User(data['user'] or {}), content, portal),
            'visitor': data['visitor'] and _Data(data['visitor']),
            'mail': _Named(send=_send_mail),
            'fetch': _fetch,
            'jobs': _Named(add=_add_job, fetch=_add_fetch),
            'params': data['params'],
            'now': None,
            'modules': _Named(**_modules),
            'escape': _escape_html,
            'flash': _flash,
            'invalid': _invalid,
            'get_app': self._get_app,
        }
        fixed['rapido'] = fixed['get_app']
        object.__setattr__(self, '_fixed', fixed)
        object.__setattr__(self, '_custom', {})

    def _get_app(self, id=None, content=None, app_id=None):
        wanted = _id(app_id if id is None else id, 'get_app')
        if wanted == self.app.id:
            return self.app
        data = _call('openApp', id=wanted)
        return data and App(wanted, data, data['acl'])

    def __getattr__(self, name):
        if name == 'now':
            return _bridge(_OP_ZONED_TIME + _text([self._fixed['portal'].time_zone, _milliseconds()]))
        if name in self._fixed:
            if name == 'visitor' and self._fixed[name]:
                _note('visitor')
            return self._fixed[name]
        if name in self._custom:
            return self._custom[name]
        raise AttributeError("context has no '%s'" % name)

    def __setattr__(self, name, value):
        if name in self._fixed:
            raise AttributeError('context.%s cannot be replaced' % name)
        self._custom[name] = value
