# Requests of the server (shared/logic-protocol.ts), and modules of the app's folder.

_MODULES = {
    'collections': _Module('collections', _collections, Counter=Counter, defaultdict=defaultdict),
    'copy': _Module('copy', _copy),
    'datetime': datetime,
    'functools': _Module('functools', _functools),
    'heapq': _Module('heapq', _heapq),
    'itertools': _Module('itertools', _itertools),
    'json': json,
    'math': math,
    'operator': _Module('operator', _operator),
    'random': random,
    're': re,
    'string': _Module('string', _string),
    'time': time,
}
_modules = {name: _MODULES[name] for name in ('datetime', 'json', 'math', 'random', 're', 'time')}
_imported = {}
_native_import = builtins.__import__


def _folder_module(name, package):
    """The path of a module of the app's folder: `lib.text` is lib/text.py, seen from the app's folder or a package."""
    tail = name.replace('.', '/')
    for start in package:
        for end in ('.py', '/__init__.py'):
            path = (start + '/' + tail if start else tail) + end
            if path in _imported or _bridge(_OP_MODULE + path) != '':
                return path
    return None


def _load(path):
    if path in _imported:
        return _imported[path]
    module = _Module(path, None)
    names = {'__name__': path[:-3].replace('/', '.'), '__file__': path}
    # Known before it has run: modules may import each other.
    _imported[path] = module
    exec(compile(_bridge(_OP_MODULE + path)[1:], path, 'exec'), names)
    for name in names.keys():
        if not name.startswith('__'):
            setattr(module, name, names[name])
    return module


def _import(name, globals=None, locals=None, fromlist=None, level=0):
    if level == 0 and name in _MODULES:
        return _MODULES[name]
    here = (globals or {}).get('__file__', '').split('/')[:-1]
    if level > len(here) + 1:
        raise ImportError('imports stay inside the folder of the app')
    base = '/'.join(here[: len(here) - level + 1]) if level else ''
    folders = [base] if level else ['', 'lib'] + (['/'.join(here)] if here else [])
    if name == '':
        package = _Module(base, None)
        for part in fromlist or ():
            setattr(package, part, _import(part, globals, None, ('*',), level))
        return package
    path = _folder_module(name, folders)
    if path:
        module = _load(path)
        return module if fromlist or '.' not in name else _nested(name, module)
    if fromlist:
        found = [(part, _folder_module(name + '.' + part, folders)) for part in fromlist]
        if all([path for _, path in found]):
            return _Module(name, None, **{part: _load(path) for part, path in found})
    raise ImportError(
        "there is no module '%s': there are %s, and the files of the app's folder" % (name, ', '.join(sorted(_MODULES)))
    )


def _nested(name, module):
    for part in reversed(name.split('.')[1:]):
        module = _Module(part, None, **{part: module})
    return module


def _import_all(name, level, names):
    """`from name import *`: the compiler writes it so, because MicroPython's own works for its own modules only."""
    module = _import(name, names, None, ('*',), level)
    for key in dir(module):
        if not key.startswith('_'):
            names[key] = getattr(module, key)


builtins._import_all = _import_all
builtins.__import__ = _import
builtins.print = _print


def _frames(error):
    """Frames of the theme's files, the innermost first, with the function's name."""
    out = _io.StringIO()
    _sys.print_exception(error, out)
    found = []
    for line in out.getvalue().split('\n'):
        parts = line.split('"')
        if line.startswith('  File "') and len(parts) == 3 and parts[1] != '<stdin>':
            position = parts[2].split(', ')
            number = position[1][5:] if len(position) > 1 else '0'
            found.append((parts[1], number, position[2][3:] if len(position) > 2 else ''))
    found.reverse()
    return found


def _stack_text(frames, column='1'):
    return '\n'.join(['    at %s (%s:%s:%s)' % (name or '?', path, line, column) for path, line, name in frames])


def _diagnosed(frames, message):
    """The position and the message of a SyntaxError, with what was expected there (python/diagnose.ts)."""
    path, line, name = frames[0]
    found = _bridge('%s%s %s' % (_OP_DIAGNOSE, line, path)).split(' ', 2)
    if len(found) < 3:
        return _stack_text(frames), message
    return _stack_text([(path, found[0], name)], found[1]), '%s: %s' % (message, found[2])


# The position of the log entry that is being made: the compiler writes it into the call (python-syntax.ts), because
# MicroPython has a position only in exceptions.
_position = None


def _at(line, path):
    global _position
    _position = '    at ? (%s:%s:1)' % (path, line)
    return ()


builtins._at = _at


def _stack_here():
    global _position
    position, _position = _position, None
    return position or ''


def _message_of(error):
    try:
        if _native_isinstance(error, KeyError) and len(error.args) == 1:
            return repr(error.args[0])
        return str(error)
    except Exception:
        return 'an unreadable message'


def _describe(error):
    frames = _frames(error)
    message = _message_of(error)[:2000]
    if frames and frames[0][2] not in ('', '<module>'):
        message += ('' if message == '' else ', ') + 'in ' + frames[0][2]
    stack = _stack_text(frames)
    if frames and _native_isinstance(error, SyntaxError):
        stack, message = _diagnosed(frames, message)
    described = {'name': type(error).__name__[:100], 'message': message, 'stack': stack[:4000]}
    host = getattr(error, 'host', None) if _native_isinstance(error, AppsError) else None
    if host is not None:
        described['host'] = host
    return described


_functions = {}
_context = None
_function_type = type(_describe)


def _op_open(request):
    global _context
    _random.seed(int(_bridge(_OP_RANDOM_SEED)))
    _limits.update(request['limits'])
    _context = Context(request['context'])
    path = request['entry']
    names = {'__name__': path[:-3].replace('/', '.'), '__file__': path}
    exec(compile(_bridge(_OP_MODULE + path)[1:], path, 'exec'), names)
    for name in names.keys():
        value = names[name]
        if not name.startswith('__') and callable(value) and not _native_isinstance(value, type):
            _functions[name] = value
    return '{"functions":' + _text(list(_functions.keys())) + ',"outcomes":' + _run(request.get('calls', ())) + '}'


def _outcome(name):
    function = _functions.get(name)
    if function is None:
        return '{"defined":false,"value":null}'
    value = function(_context)
    if hasattr(value, 'send') and hasattr(value, 'throw'):
        value = _finished(value)
    text = _text(value, 'the result of ' + name)
    if _is_too_large(text):
        raise ValueError('The result of %s is larger than %d bytes' % (name, _limits['resultSize']))
    return '{"defined":true,"value":' + text + '}'


def _is_too_large(text):
    """Whether a result has too many bytes. They are counted only where the characters do not decide: a copy takes memory."""
    size = _limits['resultSize']
    return len(text) > size or (len(text) * 4 > size and len(text.encode()) > size)


def _finished(generator):
    """The result of an async function; the values of a generator."""
    values = []
    try:
        while True:
            values.append(generator.send(None))
    except StopIteration as end:
        return end.value if not values else values


def _op_call(request):
    return _run(request['calls'])


def _run(calls):
    outcomes = []
    for call in calls:
        failure = None
        try:
            outcomes.append(_outcome(call['name']))
        except BaseException as error:
            if not call['contained'] or _native_isinstance(error, KeyboardInterrupt):
                raise
            failure = error
            outcomes.append('{"error":' + _text(_describe(error)) + '}')
        _ended(failure)
        # Not contained, and before the next function: a refused change is one of the function that fails with it.
        _send([])
    return '[' + ','.join(outcomes) + ']'


def _op_properties(request):
    found = []
    for name, value in _context._custom.items():
        try:
            found.append(_text(name) + ':' + _text(_plain(value)))
        except Exception:
            # Not JSON: a layout could not use it.
            pass
    text = '{' + ','.join(found) + '}'
    if _is_too_large(text):
        raise ValueError('What was set on context is larger than %d bytes' % _limits['resultSize'])
    return text


_operations = {'open': _op_open, 'call': _op_call, 'properties': _op_properties}


def _serve():
    try:
        request = _read(_bridge(_OP_REQUEST))
        if _context is not None and 'record' in request:
            record = request['record']
            _context._fixed['record'] = record and _adopt(None, record)
        if _context is not None and 'request' in request:
            _context._fixed['request'] = Request(request['request'], Response())
        answer = '{"value":' + _operations[request['op']](request) + '}'
    except BaseException as error:
        answer = '{"error":' + _text(_describe(error)) + '}'
    _bridge(_OP_ANSWER + answer)
