# The first of the prelude's files: they are run one after the other, in one namespace, after the constants of operations.ts
# (`_OP_…`: operations of JavaScript, called by `_bridge`).
# Members of CPython's built-in types and functions that MicroPython's lack.

import builtins
import io as _io
import sys as _sys

import _bridge
import uctypes


# Names of inputs that were looked at (shared/looked.ts). The runner keeps as many.
_noted = set()


def _note(name):
    if name not in _noted and len(_noted) <= 200:
        _noted.add(name)
        _bridge(_OP_LOOK + name)


def _word(address):
    return uctypes.struct(address, {'value': 0 | uctypes.UINT32})


def _byte(address):
    return uctypes.struct(address, {'value': 0 | uctypes.UINT8})


# MicroPython keeps the methods of built-in types in tables that cannot be added to. A type's table is found by the
# number of its slot (byte 19 of a type; the slots begin at byte 20), and replaced by a dictionary with more in it.
_LOCALS_SLOT = 19
_SLOTS = 20
_kept_tables = []


def _extend(kind, more):
    slot = id(kind) + _SLOTS + 4 * (_byte(id(kind) + _LOCALS_SLOT).value - 1)
    if _word(_word(slot).value).value != id(dict):
        raise RuntimeError('another MicroPython than the one this is made for')
    hidden = ('__class__', '__name__', '__bases__', '__dict__')
    table = {name: getattr(kind, name) for name in dir(kind) if name not in hidden}
    if kind is dict:
        # A class method: `getattr` on the type would bind it.
        table['fromkeys'] = staticmethod(dict.fromkeys)
    table.update(more)
    _kept_tables.append(table)
    _word(slot).value = id(table)


def _slice(self, start, stop, step):
    """`self[start:stop:step]`: the compiler writes it so (server/src/logic/compile/python.ts)."""
    if isinstance(self, list):
        return self[start:stop:step]
    step = 1 if step is None else step
    size = len(self)
    if step > 0:
        first, last = 0, size
    else:
        first, last = size - 1, -1

    def bound(value, otherwise):
        if value is None:
            return otherwise
        value = value + size if value < 0 else value
        return max(min(value, size if step > 0 else size - 1), 0 if step > 0 else -1)

    picked = [self[index] for index in range(bound(start, first), bound(stop, last), step)]
    if isinstance(self, str):
        return ''.join(picked)
    return type(self)(picked)


def _ascii(text):
    return len(text) == len(text.encode())


_native_upper, _native_lower = str.upper, str.lower


def _upper(self):
    return _native_upper(self) if _ascii(self) else _bridge(_OP_UPPER_CASE + self)


def _lower(self):
    return _native_lower(self) if _ascii(self) else _bridge(_OP_LOWER_CASE + self)


def _is(letters):
    return lambda self: _bridge(_OP_IS_MADE_OF + letters + self) == 'true'


def _title(self):
    out, inside = [], False
    for letter in self:
        out.append(letter.lower() if inside else letter.upper())
        inside = letter.isalpha()
    return ''.join(out)


def _pad(left, right):
    def pad(self, width, fill=' '):
        padding = max(0, width - len(self))
        return fill * left(padding) + self + fill * right(padding)

    return pad


def _center(self, width, fill=' '):
    padding = max(0, width - len(self))
    left = padding // 2 + (padding & width & 1)
    return fill * left + self + fill * (padding - left)


def _zfill(self, width):
    sign = self[:1] if self[:1] in ('+', '-') else ''
    return sign + '0' * max(0, width - len(self)) + self[len(sign):]


def _expandtabs(self, size=8):
    lines = []
    for line in self.split('\n'):
        out = ''
        for part in line.split('\t'):
            out += part + ' ' * (size - len(part) % size)
        last = line.split('\t')[-1]
        lines.append(out[: len(out) - (size - len(last) % size)])
    return '\n'.join(lines)


def _translate(self, table):
    out = []
    for letter in self:
        new = table.get(ord(letter), letter)
        out.append('' if new is None else chr(new) if isinstance(new, int) else new)
    return ''.join(out)


def _maketrans(first, second=None, gone=''):
    if second is None:
        return {ord(key) if isinstance(key, str) else key: value for key, value in first.items()}
    table = {ord(a): ord(b) for a, b in zip(first, second)}
    table.update({ord(letter): None for letter in gone})
    return table


def _splitlines(self, keepends=False):
    text = self.replace('\r\n', '\n').replace('\r', '\n')
    lines = text.split('\n')
    if lines[-1] == '':
        lines.pop()
    return [line + '\n' for line in lines] if keepends else lines


_extend(str, {
    '__slice__': _slice,
    '__len__': lambda self: len(self),
    'upper': _upper,
    'lower': _lower,
    'casefold': _lower,
    'capitalize': lambda self: self[:1].upper() + self[1:].lower(),
    'swapcase': lambda self: ''.join([c.lower() if c.isupper() else c.upper() for c in self]),
    'title': _title,
    'isalpha': _is('a'),
    'isalnum': _is('n'),
    'isdigit': _is('d'),
    'isdecimal': _is('d'),
    'isnumeric': _is('d'),
    'isidentifier': _is('i'),
    'isupper': lambda self: self == self.upper() and self != self.lower(),
    'islower': lambda self: self == self.lower() and self != self.upper(),
    'istitle': lambda self: self == self.title() and self != self.lower(),
    'isascii': _ascii,
    'zfill': _zfill,
    'ljust': _pad(lambda padding: 0, lambda padding: padding),
    'rjust': _pad(lambda padding: padding, lambda padding: 0),
    'center': _center,
    'expandtabs': _expandtabs,
    'removeprefix': lambda self, part: self[len(part):] if part and self.startswith(part) else self,
    'removesuffix': lambda self, part: self[: -len(part)] if part and self.endswith(part) else self,
    'splitlines': _splitlines,
    'translate': _translate,
    'maketrans': staticmethod(_maketrans),
    'format_map': lambda self, values: self.format(**values),
    'decode': lambda self, *encoding: self,
})
_extend(tuple, {'__slice__': _slice})
_extend(list, {'__slice__': _slice})
_extend(bytes, {'__slice__': _slice})
_extend(dict, {
    'has_key': lambda self, key: key in self,
    'iteritems': lambda self: iter(self.items()),
    'iterkeys': lambda self: iter(self.keys()),
    'itervalues': lambda self: iter(self.values()),
})
_extend(int, {
    'bit_length': lambda self: len(bin(abs(self))) - 2 if self else 0,
    'is_integer': lambda self: True,
})


def _merged(*parts):
    """A dictionary display with `**` in it: the compiler writes it so."""
    merged = {}
    for part in parts:
        merged.update(part if isinstance(part, dict) else {key: part[key] for key in part.keys()})
    return merged


def _joined(*parts):
    """A list display with `*` in it: the compiler writes it so."""
    joined = []
    for part in parts:
        joined.extend(part)
    return joined


_native_round = round


def _round(number, digits=None):
    if digits is None or isinstance(number, int):
        return _native_round(number) if digits is None else _native_round(number, digits)
    if digits < 0:
        return float(_native_round(number, digits))
    return float(_bridge('%s%d %r' % (_OP_ROUND, digits, float(number))))


_native_isinstance = isinstance


def _isinstance(value, kinds):
    # In Python a boolean is a number.
    if value is True or value is False:
        return kinds is int or (_native_isinstance(kinds, tuple) and int in kinds) or _native_isinstance(value, kinds)
    return _native_isinstance(value, kinds)


def _format(value, spec=''):
    if hasattr(value, 'strftime') and '%' in spec:
        return value.strftime(spec)
    return ('{:' + spec + '}').format(value)


def _vars(value):
    # It gives the data behind the objects of `context`.
    _note('everything')
    return value.__dict__


for _name, _value in {
    '_merged': _merged,
    '_joined': _joined,
    'round': _round,
    'isinstance': _isinstance,
    'format': _format,
    'ascii': repr,
    'vars': _vars,
    'unicode': str,
    'basestring': str,
    'long': int,
    'unichr': chr,
    'xrange': range,
    'cmp': lambda a, b: (a > b) - (a < b),
    'RecursionError': RuntimeError,
    'TimeoutError': OSError,
    'IOError': OSError,
    'UnicodeDecodeError': UnicodeError,
    'UnicodeEncodeError': UnicodeError,
    'ModuleNotFoundError': ImportError,
    'FloatingPointError': ArithmeticError,
}.items():
    setattr(builtins, _name, _value)


def _gone(name):
    def gone(*_arguments):
        raise NameError("name '%s' isn't defined" % name)

    return gone


for _name in ('open', 'execfile', 'input', 'help'):
    setattr(builtins, _name, _gone(_name))
