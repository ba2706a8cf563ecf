export function on_display(context) {
  context.may_delete = context.app.acl.has_access_right('editor');
}

export function on_delete({ app }) {
  return app.get_block('results').url;
}
