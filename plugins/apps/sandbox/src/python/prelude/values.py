# JSON of values that are stored, returned and sent to the server.

_DATES = (_datetime.datetime, _datetime.date, _datetime.time)


def _plain(value, name='the value', exact=False):
    """
    The value as JSON has it: tuples and sets are lists, dates are ISO 8601. NaN is null, or a TypeError where the value has to
    be `exact`, as are whole numbers that JSON cannot hold. TypeError for the rest.
    """
    if value is None or value is True or value is False or _native_isinstance(value, str):
        return value
    if _native_isinstance(value, int):
        return _whole(value, name) if exact else value
    if _native_isinstance(value, float):
        if value - value == 0:
            return value
        if exact:
            raise TypeError('%s is or holds the number %s, which JSON does not have' % (name, value))
        return None
    if _native_isinstance(value, dict):
        return {_key(key): _plain(value[key], name, exact) for key in value.keys()}
    if _native_isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item, name, exact) for item in value]
    if _native_isinstance(value, Record):
        return _plain(value.items(), name, exact)
    if _native_isinstance(value, _User):
        return _plain(value._data, name, exact) if value else None
    if _native_isinstance(value, Block):
        return {'id': value.id, 'url': value.url}
    if _native_isinstance(value, _Data):
        return _plain(value._as_json(), name, exact)
    if _native_isinstance(value, _DATES):
        return value.isoformat()
    if _native_isinstance(value, bytes):
        return value.decode()
    if type(value) in _LAZY:
        return [_plain(item, name, exact) for item in value]
    raise TypeError('%s is of the type %s, which JSON does not have' % (name, type(value).__name__))


# Whole numbers below it are the same in JSON.
_SAFE = 9007199254740992.0


def _whole(value, name):
    """A whole number; TypeError for one that would be another number in JSON."""
    if -_SAFE < value < _SAFE or _bridge(_OP_IS_WHOLE_NUMBER + str(value)) == 'true':
        return value
    shown = str(value)[:40]
    raise TypeError('%s is or holds the number %s, which JSON cannot hold exactly: make it a string' % (name, shown))


_LAZY = (type({}.keys()), type(x for x in ()), type(map(None, ())), type(zip()), type(range(0)), type(reversed([])))


def _key(key):
    if _native_isinstance(key, str):
        return key
    if key is None or key is True or key is False:
        return {None: 'null', True: 'true', False: 'false'}[key]
    return str(key)


# The time of MicroPython's own encoder and decoder grows with the square of the length.
_LONG = 500


def _text(value, name='the value'):
    """JSON text of what `_plain` makes of the value."""
    parts = []
    _write(value, parts.append, name)
    return ''.join(parts)


def _write(value, put, name):
    if _native_isinstance(value, str):
        put(_json.dumps(value) if len(value) < _LONG else _bridge(_OP_QUOTE + value))
    elif value is None or value is True or value is False:
        put(_json.dumps(value))
    elif _native_isinstance(value, int):
        put(str(_whole(value, name)))
    elif _native_isinstance(value, dict):
        mark = '{'
        for key in value.keys():
            put(mark)
            _write(_key(key), put, name)
            put(':')
            _write(value[key], put, name)
            mark = ','
        put('{}' if mark == '{' else '}')
    elif _native_isinstance(value, (list, tuple)):
        mark = '['
        for item in value:
            put(mark)
            _write(item, put, name)
            mark = ','
        put('[]' if mark == '[' else ']')
    elif _native_isinstance(value, float):
        put(_json.dumps(_plain(value)))
    else:
        _write(_plain(value, name), put, name)


def _read(text):
    """The value of JSON text. Long texts in it come one by one (python/index.ts)."""
    if text[:1] != '\x01':
        return _json.loads(text)
    return _filled(_json.loads(text[1:]))


def _filled(value):
    if _native_isinstance(value, str):
        return _bridge(_OP_LONG_TEXT + value[1:]) if value[:1] == '\x00' else value
    if _native_isinstance(value, dict):
        return {_filled(key): _filled(value[key]) for key in value.keys()}
    if _native_isinstance(value, list):
        return [_filled(item) for item in value]
    return value


def _json_loads(text, **_others):
    if _native_isinstance(text, bytes):
        text = text.decode()
    return _json.loads(text) if len(text) < _LONG else _read(_bridge(_OP_TAKE_OUT_TEXTS + text))


def _sorted_keys(value):
    return sorted(value.keys(), key=_key)


def _indented(value, indent, sort, separators, level):
    inner = '\n' + indent * (level + 1) if indent is not None else ''
    outer = '\n' + indent * level if indent is not None else ''
    comma, colon = separators
    if _native_isinstance(value, dict) and len(value):
        pairs = [
            _text(_key(key)) + colon + _indented(value[key], indent, sort, separators, level + 1)
            for key in (_sorted_keys(value) if sort else value.keys())
        ]
        return '{' + inner + (comma + inner).join(pairs) + outer + '}'
    if _native_isinstance(value, list) and len(value):
        items = [_indented(item, indent, sort, separators, level + 1) for item in value]
        return '[' + inner + (comma + inner).join(items) + outer + ']'
    return str(value) if type(value) is int else _text(value)


def _escaped(text):
    out = []
    for letter in text:
        point = ord(letter)
        if point < 128:
            out.append(letter)
        elif point < 0x10000:
            out.append('\\u%04x' % point)
        else:
            point -= 0x10000
            out.append('\\u%04x\\u%04x' % (0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF)))
    return ''.join(out)


def _defaulted(value, default):
    if _native_isinstance(value, dict):
        return {key: _defaulted(value[key], default) for key in value.keys()}
    if _native_isinstance(value, (list, tuple)):
        return [_defaulted(item, default) for item in value]
    try:
        return _plain(value)
    except TypeError:
        return _defaulted(default(value), default)


def _json_dumps(
    value, indent=None, sort_keys=False, separators=None, ensure_ascii=True, default=None, **_others
):
    plain = _plain(value if default is None else _defaulted(value, default))
    unit = ' ' * indent if _native_isinstance(indent, int) else indent
    marks = separators or ((', ' if indent is None else ','), ': ')
    text = _indented(plain, unit, sort_keys, marks, 0)
    return text if not ensure_ascii or _ascii(text) else _escaped(text)


json = _Module('json', None, dumps=_json_dumps, loads=_json_loads, JSONDecodeError=ValueError)


class _Items(dict):
    """A record's items: a dictionary that is gone through by pairs, as `record.items()` is elsewhere in Python."""

    def __iter__(self):
        return iter([(key, self[key]) for key in self.keys()])
