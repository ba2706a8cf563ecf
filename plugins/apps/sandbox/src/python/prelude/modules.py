# The modules of `context.modules`, as apps written for Rapido use them. They may also be imported.

import collections as _collections
import copy as _copy
import datetime as _datetime
import functools as _functools
import heapq as _heapq
import itertools as _itertools
import json as _json
import math as _math
import operator as _operator
import random as _random
import string as _string
import time as _time


class _Module:
    def __init__(self, name, native, **more):
        self.__name__ = name
        for key in dir(native) if native else ():
            if not key.startswith('_'):
                setattr(self, key, getattr(native, key))
        for key, value in more.items():
            setattr(self, key, value)

    def __repr__(self):
        return "<module '%s'>" % self.__name__


_DAYS = ('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday')
_MONTHS = (
    'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
    'December',
)

struct_time = _collections.namedtuple(
    'struct_time',
    ('tm_year', 'tm_mon', 'tm_mday', 'tm_hour', 'tm_min', 'tm_sec', 'tm_wday', 'tm_yday', 'tm_isdst'),
)


def _struct(values):
    values = tuple(values)
    return struct_time(*(values + (0,) * (9 - len(values)))[:9])


_FIELDS = {
    'Y': lambda t, m: '%04d' % t[0],
    'y': lambda t, m: '%02d' % (t[0] % 100),
    'm': lambda t, m: '%02d' % t[1],
    'd': lambda t, m: '%02d' % t[2],
    'e': lambda t, m: '%2d' % t[2],
    'H': lambda t, m: '%02d' % t[3],
    'I': lambda t, m: '%02d' % ((t[3] + 11) % 12 + 1),
    'M': lambda t, m: '%02d' % t[4],
    'S': lambda t, m: '%02d' % t[5],
    'f': lambda t, m: '%06d' % m,
    'p': lambda t, m: 'AM' if t[3] < 12 else 'PM',
    'A': lambda t, m: _DAYS[t[6]],
    'a': lambda t, m: _DAYS[t[6]][:3],
    'B': lambda t, m: _MONTHS[t[1] - 1],
    'b': lambda t, m: _MONTHS[t[1] - 1][:3],
    'h': lambda t, m: _MONTHS[t[1] - 1][:3],
    'j': lambda t, m: '%03d' % t[7],
    'w': lambda t, m: str((t[6] + 1) % 7),
    'u': lambda t, m: str(t[6] + 1),
    'U': lambda t, m: '%02d' % ((t[7] + 6 - (t[6] + 1) % 7) // 7),
    'W': lambda t, m: '%02d' % ((t[7] + 6 - t[6]) // 7),
    'z': lambda t, m: '',
    'Z': lambda t, m: '',
    '%': lambda t, m: '%',
    'n': lambda t, m: '\n',
    't': lambda t, m: '\t',
}
_SHORT = {'D': '%m/%d/%y', 'F': '%Y-%m-%d', 'T': '%H:%M:%S', 'R': '%H:%M', 'x': '%m/%d/%y', 'X': '%H:%M:%S',
          'c': '%a %b %e %H:%M:%S %Y', 'r': '%I:%M:%S %p'}


def _strftime(spec, moment, micro=0, zone=''):
    out, at = [], 0
    while at < len(spec):
        letter = spec[at]
        if letter != '%' or at + 1 >= len(spec):
            out.append(letter)
            at += 1
            continue
        code = spec[at + 1]
        plain = code == '-' and at + 2 < len(spec)
        code = spec[at + 2] if plain else code
        at += 3 if plain else 2
        if code in _SHORT:
            out.append(_strftime(_SHORT[code], moment, micro, zone))
        elif code == 'z':
            out.append(zone)
        else:
            field = _FIELDS.get(code)
            text = field(moment, micro) if field else '%' + code
            out.append(text.lstrip('0') or '0' if plain else text)
    return ''.join(out)


def _names(names):
    return '(' + '|'.join(sorted(list(names) + [name[:3] for name in names], key=lambda name: -len(name))) + ')'


_PARTS = {'Y': r'(\d{4})', 'y': r'(\d{2})', 'm': r'(\d{1,2})', 'd': r'(\d{1,2})', 'e': r'\s*(\d{1,2})',
          'H': r'(\d{1,2})', 'I': r'(\d{1,2})', 'M': r'(\d{1,2})', 'S': r'(\d{1,2})', 'f': r'(\d{1,6})',
          'p': '([AaPp][Mm])', 'j': r'(\d{1,3})', 'B': _names(_MONTHS), 'b': _names(_MONTHS), 'A': _names(_DAYS),
          'a': _names(_DAYS), 'z': r'(Z|[+-]\d\d:?\d\d)', 'h': _names(_MONTHS)}


def _month(name):
    return [month[:3].lower() for month in _MONTHS].index(name[:3].lower()) + 1


def _strptime(text, spec):
    """Year, month, day, hour, minute, second, microsecond, seconds of the zone or None."""
    pattern, codes, at = '', [], 0
    for short, long in _SHORT.items():
        spec = spec.replace('%' + short, long)
    while at < len(spec):
        if spec[at] == '%' and at + 1 < len(spec):
            code = spec[at + 1]
            if code != '%' and code not in _PARTS:
                raise ValueError("'%s' is a bad directive in format '%s'" % (code, spec))
            pattern += '%' if code == '%' else _PARTS[code]
            if code != '%':
                codes.append(code)
            at += 2
        else:
            pattern += r'\s+' if spec[at].isspace() else re.escape(spec[at])
            at += 1
    match = re.fullmatch(pattern, text, re.I)
    if not match:
        raise ValueError("time data '%s' does not match format '%s'" % (text, spec))
    found = dict(zip(codes, match.groups()))
    year = int(found['Y']) if 'Y' in found else 1900
    if 'y' in found:
        short = int(found['y'])
        year = short + (2000 if short < 69 else 1900)
    month = int(found.get('m', 1))
    for code in ('B', 'b', 'h'):
        if code in found:
            month = _month(found[code])
    hour = int(found.get('H', found.get('I', 0)))
    if 'p' in found:
        hour = hour % 12 + (12 if found['p'].lower() == 'pm' else 0)
    zone = None
    if 'z' in found:
        digits = found['z'].replace(':', '')
        zone = 0
        if digits != 'Z':
            zone = (int(digits[1:3]) * 3600 + int(digits[3:5]) * 60) * (-1 if digits[0] == '-' else 1)
    micro = int((found.get('f', '0') + '000000')[:6])
    day = int(found.get('d', found.get('e', 1)))
    values = (year, month, day, hour, int(found.get('M', 0)), int(found.get('S', 0)), micro, zone)
    _datetime.datetime(*values[:6])
    return values
