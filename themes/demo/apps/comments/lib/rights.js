/** Whether the visitor may write a comment. */
export function mayComment({ acl }) {
  return ['submitter', 'author', 'editor'].some((right) => acl.has_access_right(right));
}

/** Whether the visitor may change a comment: editors all, authors their own. The server checks it once more. */
export function mayChange({ acl }, comment) {
  const isOwn = acl.has_access_right('author') && comment.get('author') === acl.current_user();
  return isOwn || acl.has_access_right('editor');
}
