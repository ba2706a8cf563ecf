import { answers, question } from '../lib/question';

/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** The vote of a user is a record of this id: each user has one vote. @param {string} user */
const voteOf = (user) => `vote/${user}`;

/** Runs before the block is shown and before a button's function. @param {Context} context */
export function on_display(context) {
  const { app, request } = context;
  const user = app.acl.current_user();
  context.question = question;
  context.problem = '';
  context.has_voted = user === null ? request.has('voted') : app.get_record(voteOf(user)) !== null;
}

/** Options of the field `answer`. */
export function answer_options() {
  return answers;
}

/**
 * The button. Users have one vote; visitors who are not logged in can vote again after a reload.
 * @param {Context} context
 */
export function vote(context) {
  const { app, block, request } = context;
  if (context.has_voted) return;
  const chosen = answers.find(({ value }) => value === request.get('answer'));
  if (!chosen) {
    context.problem = 'Please choose an answer first.';
    request.response.status = 422;
    return;
  }
  const user = app.acl.current_user();
  if (user !== null) app.create_record(voteOf(user));
  const count = app.get_record(chosen.value) ?? app.create_record(chosen.value);
  count.inc('votes');
  return `${block?.url}?voted=yes`;
}

/** One row for each answer, also before the first vote. @param {Context} context */
export function results({ app }) {
  const counts = answers.map(({ value }) => Number(app.get_record(value)?.get('votes', 0) ?? 0));
  const total = counts.reduce((sum, votes) => sum + votes, 0);
  const rows = answers.map(({ label }, at) => {
    const votes = counts[at] ?? 0;
    return { label, votes, percent: total === 0 ? 0 : Math.round((100 * votes) / total) };
  });
  return { total, rows };
}
