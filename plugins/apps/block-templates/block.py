# The element "greeting": HTML that replaces it, so what a visitor has entered is escaped.
def greeting(context):
    name = str(context.request.get('name', '')).strip()
    if name == '':
        return 'What is your name?'
    return 'Hello, ' + context.escape(name) + '!'

# The button sends the form, and the greeting reads it.
def greet(context):
    pass
