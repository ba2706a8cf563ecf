import { around, tokens } from './tokens';

/** Pieces of logic files, by language: with tokens for which its compilers look ahead or look back. */
export const pieces: Record<'js' | 'ts' | 'py', readonly string[]> = {
  js: tokens(`
    \`\${  }\`  (  [  {  )  ]  }  /  /*  */  //  ⏎  '  "  \\  \\u{  x  1  =>  a=>  ...  async␣  async(  await␣
    yield␣  function␣  function*  class␣  class A{  #a  #a in␣  static{  get␣  =  ,  let␣  var␣  const a=  let x#=
    var x#;  x#:  function x#(){}  export␣  export{};  export{x#};  export * from  import './b'  import{  for(
    for(let␣  if(  else␣  do␣  try{  switch(  case␣  new␣  new.target  super  delete␣  ?  ?.  ??  :  ;  -  - -  !  <
    <!--  -->  /(?:  /[  /(?<a>  (?=  **  in␣  of␣  a.  a?.  @a␣
  `),
  ts: tokens(`
    <a>(  async<a>(  <T>  <  >  (  )  [  ]  {  }  a<b>(  a<  x as␣  x as any  satisfies␣  x!  :  ?:  =>  type A=
    type x#=  interface A{  enum E{  enum x#{A}  namespace N{  declare␣  abstract␣  class A<  private␣  readonly␣
    keyof␣  infer␣  extends␣  A extends B?  \`\${  }\`  (a:  (a?:  ():  function f<  import type{  export type␣
    asserts␣  is␣  |  &  ...  ,  ;  =  '  "  /  /*  //  ⏎  async␣  new␣  abstract new␣  @a␣  @a()␣  x#  1  unique␣
    typeof␣
  `),
  py: tokens(`
    (  [  {  )  ]  }  x[  [::1]  x[1:2:3]  {**a,  [*a,  """  '''  '  "  \\  \\⏎  #  ⏎  ␣  ⇥  f"{  r"  from␣  from .
    from . import␣  import␣  import (  import x#  from x# import a⏎  import *  a,  x#,  .  ..  a.  :  :=  lambda:␣
    lambda x:  del␣  del x[  def f(  class A:⏎␣  if a:␣  in␣  not␣  =  ==  **  *  @  é  0x  1.  async␣
  `),
};

/** Constructs that nest: an opening, and its ending. */
export const nestings: Record<keyof typeof pieces, readonly (readonly [string, string])[]> = {
  js: around(`
    (…)  […]  {…}  \`\${…}\`  (a=…)=>1  async(a=…)=>1  ({a=…})=>1  [a=…]=1  ({a:…}=1)  x=>…  x=>{…}  ()=>(…)
    function(){…}  -…  !…  - -…  await …  1+…  1**…  1?…:1  a?.[…]  new …  new a(…)  a(…)  a⏎(…)  async(…)
    async(x)=>…  class{a=…}  class{[…](){}}  class extends …{}  ...…  f\`\${…}\`  if(1)…  for(;;)…  a:…  /(…)/
    /[…]/  #a in …  yield …
  `),
  ts: around(`
    <a>(…)  async<a>(…)=>1  <a>(x:…)=>1  a<b>(…)  a<…>()  (a:…)=>1  (a?:…)=>1  (a=…):b=>1  a?(…):1  a?(b):…=>1
    a?(b)=>(…):c  a?async(b):…  <a,>(…)  <a>…  x as a<…>  type a=[…]  type a=(…)  let a:(…)  let a:<b>(…)=>c
    let a:{…}  a extends b?…:c  namespace a{…}  declare namespace a{…}  class A{a=…}  class A<b=…>{}  enum A{a=…}
    f<a>\`\${…}\`  new a<…>  (x as …)  !…  x!…  @a(…)class{}  (<…>a)  import(…)  async(…):a=>1
  `),
  py: around(`
    (…)  […]  {…}  x[…::1]  x[…]  [*a,…]  {**a,…}  f(…)  "…"  '…'  """…"""  lambda:…  del x[…]  f"{…}"  import (…)
    from . import (…)  x[lambda:…::1]
  `),
};

/** Contexts of an expression, in which it is read to its end. */
export const frames: readonly (readonly [string, string])[] = [
  ['', ''],
  ['x=', ';'],
  ['export const f=', ';'],
  ['function f(){', '}'],
  ['class A{f(a=', '){}}'],
];
