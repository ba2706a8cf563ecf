# re, on JavaScript's regular expressions: MicroPython's own have neither {2,3} nor flags nor findall.


def _spans(pattern, text, start=0, max_matches=0, sticky=False, whole=False):
    """The matches, each a list of the spans of its groups, -1 for a group that took no part."""
    search = [pattern._source, pattern.flags, text, start, max_matches, sticky, whole]
    answer = _read(_bridge(_OP_SEARCH_PATTERN + _text(search)))
    if isinstance(answer, str):
        raise error(answer)
    return answer


class error(ValueError):
    pass


class Match:
    def __init__(self, pattern, text, spans):
        self.re = pattern
        self.string = text
        self._spans = spans

    def _number(self, group):
        number = self.re.groupindex.get(group, -1) if isinstance(group, str) else group
        if not 0 <= number < len(self._spans):
            raise IndexError('no such group')
        return number

    def _one(self, number, default=None):
        start, end = self._spans[number]
        return default if start < 0 else self.string[start:end]

    def group(self, *groups):
        found = [self._one(self._number(group)) for group in groups or (0,)]
        return found[0] if len(found) == 1 else tuple(found)

    def __getitem__(self, group):
        return self._one(self._number(group))

    def groups(self, default=None):
        return tuple([self._one(number, default) for number in range(1, len(self._spans))])

    def groupdict(self, default=None):
        return {name: self._one(number, default) for name, number in self.re.groupindex.items()}

    def span(self, group=0):
        return tuple(self._spans[self._number(group)])

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    @property
    def lastindex(self):
        taken = [number for number in range(1, len(self._spans)) if self._spans[number][0] >= 0]
        return taken[-1] if taken else None

    def expand(self, template):
        return _template(template)(self)


class Pattern:
    def __init__(self, pattern, flags=0):
        self.pattern = pattern
        answer = _read(_bridge(_OP_COMPILE_PATTERN + _text([pattern, flags])))
        if isinstance(answer, str):
            raise error(answer)
        self._source, self.flags, self.groups, self.groupindex = answer

    def _first(self, text, start, **how):
        spans = _spans(self, text, start, 1, **how)
        return Match(self, text, spans[0]) if spans else None

    def search(self, text, pos=0):
        return self._first(text, pos)

    def match(self, text, pos=0):
        return self._first(text, pos, sticky=True)

    def fullmatch(self, text, pos=0):
        return self._first(text, pos, sticky=True, whole=True)

    def finditer(self, text, pos=0):
        return iter([Match(self, text, spans) for spans in _spans(self, text, pos)])

    def findall(self, text, pos=0):
        def found(match):
            if self.groups == 0:
                return match.group()
            return match.groups('') if self.groups > 1 else match.groups('')[0]

        return [found(match) for match in self.finditer(text, pos)]

    def split(self, text, maxsplit=0):
        parts, last = [], 0
        for spans in _spans(self, text, 0, maxsplit):
            match = Match(self, text, spans)
            parts.append(text[last:match.start()])
            parts.extend(match.groups())
            last = match.end()
        return parts + [text[last:]]

    def subn(self, replacement, text, count=0):
        make = replacement if callable(replacement) else _template(replacement)
        parts, last, done = [], 0, 0
        for spans in _spans(self, text, 0, count):
            match = Match(self, text, spans)
            parts.append(text[last:match.start()])
            parts.append(make(match))
            last = match.end()
            done += 1
        return ''.join(parts) + text[last:], done

    def sub(self, replacement, text, count=0):
        return self.subn(replacement, text, count)[0]


_ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', '\\': '\\'}


def _template(text):
    r"""What makes a replacement of `\1`, `\g<name>` and escapes."""
    if '\\' not in text:
        return lambda match: text
    parts, at, plain = [], 0, ''
    while at < len(text):
        letter = text[at]
        following = text[at + 1:at + 2]
        if letter == '\\' and following == 'g' and text[at + 2:at + 3] == '<':
            end = text.index('>', at)
            name = text[at + 3:end]
            parts += [plain, int(name) if name.isdigit() else (name,)]
            plain, at = '', end + 1
        elif letter == '\\' and following.isdigit():
            end = at + (3 if text[at + 2:at + 3].isdigit() else 2)
            parts += [plain, int(text[at + 1:end])]
            plain, at = '', end
        elif letter == '\\' and following in _ESCAPES:
            plain, at = plain + _ESCAPES[following], at + 2
        else:
            plain, at = plain + letter, at + 1
    parts.append(plain)

    def make(match):
        filled = [p if isinstance(p, str) else match.group(p if isinstance(p, int) else p[0]) or '' for p in parts]
        return ''.join(filled)

    return make


def _compile(pattern, flags=0):
    return pattern if isinstance(pattern, Pattern) else Pattern(pattern, flags)


def _escape(text):
    return ''.join([c if c.isalnum() or c == '_' or ord(c) > 127 else '\\' + c for c in text])


re = _Module(
    're',
    None,
    error=error,
    Pattern=Pattern,
    Match=Match,
    compile=_compile,
    escape=_escape,
    search=lambda pattern, text, flags=0: _compile(pattern, flags).search(text),
    match=lambda pattern, text, flags=0: _compile(pattern, flags).match(text),
    fullmatch=lambda pattern, text, flags=0: _compile(pattern, flags).fullmatch(text),
    findall=lambda pattern, text, flags=0: _compile(pattern, flags).findall(text),
    finditer=lambda pattern, text, flags=0: _compile(pattern, flags).finditer(text),
    split=lambda pattern, text, maxsplit=0, flags=0: _compile(pattern, flags).split(text, maxsplit),
    sub=lambda pattern, new, text, count=0, flags=0: _compile(pattern, flags).sub(new, text, count),
    subn=lambda pattern, new, text, count=0, flags=0: _compile(pattern, flags).subn(new, text, count),
    purge=lambda: None,
    I=2, IGNORECASE=2, L=4, LOCALE=4, M=8, MULTILINE=8, S=16, DOTALL=16, U=32, UNICODE=32, X=64, VERBOSE=64,
    A=256, ASCII=256,
)
