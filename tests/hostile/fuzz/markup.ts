import { random, shapes } from './grow';
import { tokens } from './tokens';

/** Pieces of HTML that make the parser look back, reopen, move or add elements; `#` is a number. */
export const htmlPieces = tokens(`
  <p>  </p>  <div>  </div>  <b>  </b>  <b a#>  <i>  </i>  <a href=x>  </a>  <font x#>  <nobr>  <table>  </table>
  <tr>  <td>  </td>  <tbody>  <caption>  <col>  <select>  <option>  </select>  <ul>  <li>  </li>  <dl><dt>  <dd>
  <h1>  </h2>  <button>  </button>  <form>  </form>  <input>  <svg>  </svg>  <math>  <mi>  <foreignObject>  <desc>
  <template>  </template>  <frameset>  <br>  <body a#>  </body>  <html a#>  </html>  <head>  </head>  <title>
  </title>  <plaintext>  <ruby><rt>  <script>  </script>  <style>  <textarea>  </textarea>  <!--  -->  <![CDATA[
  ]]>  <!doctype html>  <?  <p␣  a#=1␣  a#␣  class="  "  '  =  /  <  >  </  &  &amp;  &#  &notit;  x  ␣  ⏎  \0
  <x-#>  </x-#>  <marquee>  <object>  </object>  <applet>  <iframe>  <noscript>  <details><summary>
`);

/** Parts of CSS selectors. */
export const selectorPieces = tokens(`
  *  p  div  .a  #b  [a]  [a=b]  [class~=b i]  [class*="aaaaaaaaab"]  ␣  ␣>␣  ␣~␣  ␣+␣  ,␣  :has(  :not(  :is(  )
  :has(~␣  :has(>␣  :nth-child(2n+1)  :nth-last-of-type(3)  :last-child  :empty  :contains(x)  :only-child
  :first-of-type  :root  :scope  :checked  :disabled  :parent  \\  (
`);

/** Parts of Liquid: delimiters, tags, filters on lists and texts that were put together. */
export const liquidPieces = tokens(`
  {{  }}  {%  %}  {{ a }}  {{-  -%}  {% if a %}  {% endif %}  {% for i in l %}  {% endfor %}  {% raw %}
  {% endraw %}  {% comment %}  {% endcomment %}  {% assign x# = a %}  {% case a %}  {% when 1 %}  {% liquid⏎
  {% capture x %}  {% endcapture %}  {% unless a %}  {% else %}  {% elsif a %}  {% tablerow i in l %}  {% cycle 1 %}
  {a}  {a.b}  {a[b]}  {  }  <!--  -->  <script>  </script  <style  >  "  '  |  :  ,  ␣a  ⏎  ␣| upcase  ␣| append: a
  [a  ]  (1..  )  ␣or␣  ␣==␣  ␣contains␣  .  #␣  {#␣  %  -  \\  {%-
`);

export interface Rendered {
  name: string;
  text: string;
}

const filters =
  'abs append array_to_sentence_string at_least base64_decode base64_encode capitalize cgi_escape compact concat date default divided_by downcase escape escape_once find first group_by has hmac_sha256 inspect join json last lstrip map minus newline_to_br normalize_whitespace number_of_words plus pop prepend push raw reject remove remove_first remove_last replace replace_first replace_last reverse rstrip sample sha256 shift size slice slugify sort sort_natural split squish strip strip_html strip_newlines sum times truncate truncatewords uniq unshift upcase url_decode url_encode where xml_escape'.split(
    ' ',
  );

/** Layouts that make a text or list as long as they can, and apply filters to it; the same for the same seed. */
export function* layouts(seed: number, count: number): Generator<Rendered> {
  const next = random(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  for (let index = 0; index < count; index += 1) {
    const unit = pick(['a', '<', '<script', ' ', '&amp;', '%c', 'é', '😀', '\\n', '-', '1,', '<!--', '%', '=', 'a b ']);
    const doublings = pick([8, 12, 16, 18, 20, 22]);
    const grow = `{% for i in (1..${doublings}) %}{% assign s = s | append: s %}{% endfor %}`;
    const short = `{% assign p = "${unit}" %}{% for i in (1..${pick([1, 6, 10, 14])}) %}{% assign p = p | append: p %}{% endfor %}{% assign p = p | ${pick(['append', 'prepend'])}: "b" %}`;
    const list = pick([
      '',
      '',
      '{% assign s = s | split: "" %}',
      '{% for i in (1..12) %}{% assign s = s | push: s %}{% endfor %}',
    ]);
    const args = pick(['', ': p', ': s', ': "a"', ': p, p', ': s, "x"', ': 5']);
    const use = pick([
      `{% assign x = s | ${pick(filters)}${args} %}`,
      `{% assign x = s | ${pick(filters)}${args} | ${pick(filters)}${pick(['', ': p', ': "x"'])} %}`,
      '{% if s contains p %}x{% endif %}',
      '{{ s }}',
      '{{ s | raw }}',
      '{% for c in s %}{{ c }}{% endfor %}',
    ]);
    const text = `{% assign s = "${unit}" %}${grow}${short}${list}${use.repeat(pick([1, 3, 10]))}`;
    yield { name: text.replace(/\s+/g, ' '), text };
  }
}

/** Large HTML for a worker process; the same for the same seed. */
export function* largeHtml(seed: number, count: number, size: number): Generator<Rendered> {
  const next = random(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  for (let index = 0; index < count; index += 1) {
    const parts = [pick(htmlPieces), pick(htmlPieces), pick(htmlPieces)] as const;
    const [name, shape] = pick(Object.entries(shapes));
    yield { name: `${name}: ${JSON.stringify(parts)}`, text: shape(parts, size).slice(0, size) };
  }
}
