/**
 * Characters without ink: white space, controls, format characters such as U+200B, and letters that are shown as nothing, such as
 * the filler U+3164 and the empty Braille pattern.
 */
const INVISIBLE = /[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether people see nothing of a text. */
export const isInvisible = (text: string): boolean => !VISIBLE.test(text);

/** A text without the invisible characters at both ends: copied telephone numbers and addresses bring them along. */
export function withoutInvisibleEnds(text: string): string {
  const chars = Array.from(text.trim());
  let [start, end] = [0, chars.length];
  while (start < end && INVISIBLE.test(chars[start] ?? '')) start += 1;
  while (end > start && INVISIBLE.test(chars[end - 1] ?? '')) end -= 1;
  return chars.slice(start, end).join('');
}
