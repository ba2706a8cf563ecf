# datetime and time: strftime, strptime and what else their MicroPython editions lack.

_datetime_class, _date_class, _delta_class = _datetime.datetime, _datetime.date, _datetime.timedelta


def _zone_text(value):
    offset = value.utcoffset()
    if offset is None:
        return ''
    seconds = int(offset.total_seconds())
    sign, seconds = ('-', -seconds) if seconds < 0 else ('+', seconds)
    return '%s%02d%02d' % (sign, seconds // 3600, seconds // 60 % 60)


def _moment(value):
    hour, minute, second = (value.hour, value.minute, value.second) if hasattr(value, 'hour') else (0, 0, 0)
    first = _date_class(value.year, 1, 1).toordinal()
    day = _date_class(value.year, value.month, value.day)
    return (value.year, value.month, value.day, hour, minute, second, day.weekday(), day.toordinal() - first + 1, -1)


def _datetime_strptime(text, spec):
    *values, zone = _strptime(text, spec)
    if zone is None:
        return _datetime_class(*values)
    return _datetime_class(*values, tzinfo=_datetime.timezone(_delta_class(seconds=zone)))


def _utcnow():
    now = _time.time()
    seconds = int(now)
    return _datetime_class(*_time.gmtime(seconds)[:6]).replace(microsecond=int((now - seconds) * 1000000))


def _isocalendar(self):
    day = _date_class(self.year, self.month, self.day)
    thursday = day.toordinal() - day.weekday() + 3
    year = _date_class.fromordinal(thursday).year
    week = (thursday - _date_class(year, 1, 1).toordinal()) // 7 + 1
    return (year, week, day.weekday() + 1)


def _ctime(self):
    return _strftime('%c', _moment(self))


_datetime_class.strftime = lambda self, spec: _strftime(spec, _moment(self), self.microsecond, _zone_text(self))
_datetime_class.strptime = staticmethod(_datetime_strptime)
_datetime_class.utcnow = staticmethod(_utcnow)
_datetime_class.today = staticmethod(_utcnow)
_datetime_class.utcfromtimestamp = staticmethod(lambda stamp: _datetime_class(*_time.gmtime(int(stamp))[:6]))
_datetime_class.utctimetuple = lambda self: _struct(_moment(self))
_datetime_class.timetuple = lambda self: _struct(_moment(self))
_datetime_class.isocalendar = _isocalendar
_datetime_class.ctime = _ctime
_date_class.strftime = lambda self, spec: _strftime(spec, _moment(self))
_date_class.timetuple = lambda self: _struct(_moment(self))
_date_class.isocalendar = _isocalendar
_date_class.ctime = _ctime
_datetime.time.strftime = lambda self, spec: _strftime(
    spec, (1900, 1, 1, self.hour, self.minute, self.second, 0, 1, -1), self.microsecond
)


def _time_strptime(text, spec='%a %b %d %H:%M:%S %Y'):
    return _struct(_moment(_datetime_class(*_strptime(text, spec)[:6])))


def _seconds(given):
    return _time.time() if given is None else given


datetime = _Module('datetime', _datetime)
time = _Module(
    'time',
    _time,
    struct_time=struct_time,
    gmtime=lambda seconds=None: _struct(_time.gmtime(int(_seconds(seconds)))),
    localtime=lambda seconds=None: _struct(_time.gmtime(int(_seconds(seconds)))),
    mktime=lambda moment: float(_time.mktime(tuple(moment)[:8])),
    strftime=lambda spec, moment=None: _strftime(spec, moment or _struct(_time.gmtime())),
    strptime=_time_strptime,
    ctime=lambda seconds=None: _strftime('%c', _struct(_time.gmtime(int(_seconds(seconds))))),
    asctime=lambda moment=None: _strftime('%c', moment or _struct(_time.gmtime())),
    perf_counter=lambda: _time.ticks_ms() / 1000,
    monotonic=lambda: _time.ticks_ms() / 1000,
    process_time=lambda: _time.ticks_ms() / 1000,
    clock=lambda: _time.ticks_ms() / 1000,
    timezone=0,
    tzname=('UTC', 'UTC'),
)


def _shuffle(values):
    for index in range(len(values) - 1, 0, -1):
        other = _random.randrange(index + 1)
        values[index], values[other] = values[other], values[index]


def _sample(values, k):
    values = list(values)
    if not 0 <= k <= len(values):
        raise ValueError('Sample larger than population or is negative')
    _shuffle(values)
    return values[:k]


def _choices(values, weights=None, k=1):
    if not weights:
        return [_random.choice(values) for _ in range(k)]
    picked = []
    for _ in range(k):
        mark = _random.random() * sum(weights)
        for value, weight in zip(values, weights):
            mark -= weight
            if mark < 0:
                break
        picked.append(value)
    return picked


def _gauss(mean=0.0, deviation=1.0):
    radius = _math.sqrt(-2.0 * _math.log(1.0 - _random.random()))
    return mean + deviation * radius * _math.cos(2.0 * _math.pi * _random.random())


random = _Module(
    'random', _random, shuffle=_shuffle, sample=_sample, choices=_choices, gauss=_gauss, normalvariate=_gauss
)


def _noting_random(work):
    def noting(*given, **named):
        _note('random')
        return work(*given, **named)

    return noting


for _name in dir(random):
    if not _name.startswith('_') and callable(getattr(random, _name)):
        setattr(random, _name, _noting_random(getattr(random, _name)))


class defaultdict(dict):
    def __init__(self, factory=None, values=()):
        super().__init__(values)
        self.default_factory = factory

    def __getitem__(self, key):
        if key not in self:
            if self.default_factory is None:
                raise KeyError(key)
            self[key] = self.default_factory()
        return self.get(key)


class Counter(dict):
    def __init__(self, values=()):
        super().__init__()
        for value in values:
            self[value] = self.get(value, 0) + 1

    def __getitem__(self, key):
        return self.get(key, 0)

    def most_common(self, count=None):
        return sorted(self.items(), key=lambda pair: -pair[1])[:count]


math = _Module('math', _math, hypot=lambda *sides: _math.sqrt(sum([side * side for side in sides])))
