// The same questions as in "questions", on pages of their own: what they do is written once.
export { answered_at, favourite_options, on_save, source, validate, verdict } from './questions';
