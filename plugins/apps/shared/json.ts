/** Any JSON value, as it crosses between programs. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A record's items, or any other JSON object. */
export type Items = { [name: string]: Json };
