# Types of the `context` that every function of a block's logic gets, for Pyright and Pylance: built-in names, so that
# logic imports nothing (docs/reference/logic.md#types). Made from the table of host functions.

from typing import Any, Iterator, Literal


class Context:
    """What a function gets. Other properties may be set on it; the layout sees them."""

    app: App
    block: Block
    record: Record | None
    request: Request
    parent_request: ParentRequest | None
    portal: Portal
    now: str
    content: Content
    api: Api
    mail: Mail
    jobs: Jobs
    visitor: Visitor | None
    params: dict[str, Any]
    modules: Any
    def escape(self, text: object) -> str: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def get_app(self, id: str | None = None, *, app_id: str | None = None) -> App | None:
        """Opens another app; null if there is none."""
        ...
    def rapido(self, id: str | None = None, content: Any = None, app_id: str | None = None) -> App | None:
        """Opens another app; null if there is none."""
        ...
    def flash(self, message: str) -> None:
        """Shows the visitor a message once, in the page of this request or in the one that a redirect leads to."""
        ...
    def invalid(self, element: str | None, message: str) -> None:
        """Refuses what was sent: nothing is saved, and the message stands beside the field (422)."""
        ...
    def fetch(self, url: str, method: str = 'GET', headers: dict[str, str] | None = None, body: str | dict[str, Any] | list[Any] | None = None, timeout: float | None = None) -> FetchAnswer:
        """Calls a web service that the configuration of the server allows."""
        ...


class RecordContext(Context):
    """What `on_save`, `on_delete`, `record_id` and computed elements get: there is a record."""

    record: Record


class App:
    """The current app, or another one of the site."""

    id: str
    url: str
    settings: dict[str, Any]
    options: dict[str, Any]
    blocks: list[Block]
    indexes: list[str]
    acl: Acl
    @property
    def messages(self) -> list[str]: ...
    def get_block(self, block_id: str) -> Block | None: ...
    def absolute_url(self) -> str: ...
    def get_record(self, id: str | int | Record) -> Record | None:
        """Reads a record; null if there is none."""
        ...
    def create_record(self, id: str | int | None = None) -> Record:
        """Makes a record, with the given id or one of its own."""
        ...
    def delete_record(self, id: str | int | Record | None = None, record: Record | None = None, on_delete: bool = True, ondelete: bool = True) -> bool:
        """Deletes a record after its block's on_delete, unless on_delete is false. False if there was none."""
        ...
    def references(self, id: str, element: str, ids: Any) -> list[dict[str, Any]]:
        """Reads the targets of a REFERENCE that the requester may see: their fields, with id and url."""
        ...
    def refresh(self, rebuild: bool = False) -> list[str]:
        """Builds the indexes of the app again when the request is stored; for managers."""
        ...
    def records(self, limit: int | None = None, cursor: str | None = None, own: bool = False) -> Records:
        """Reads a page of records in order of creation."""
        ...
    def count(self, query: str | None = None, names: dict[str, Any] | None = None, own: bool = False, block: str | None = None) -> int:
        """Counts the records that match a query, or all."""
        ...
    def search(self, query: str = '', sort_index: str | None = None, reverse: bool = False, limit: int | None = None, offset: int | None = None, names: dict[str, Any] | None = None, own: bool = False, block: str | None = None) -> list[Record]:
        """Searches records."""
        ...
    def log(self, *messages: Any) -> None:
        """Writes a log entry."""
        ...


class Acl:
    """The rights of the requester in the app."""

    def current_user(self) -> str | None: ...
    def current_user_groups(self) -> list[str]: ...
    def has_access_right(self, access_right: Literal['reader', 'author', 'editor', 'submitter', 'owner']) -> bool: ...
    def has_role(self, role_id: str) -> bool: ...
    def roles(self) -> list[str]: ...
    def is_manager(self) -> bool: ...


class Block:
    """A block of an app; equal to its id."""

    id: str
    url: str
    def absolute_url(self) -> str: ...
    @property
    def elements(self) -> dict[str, dict[str, Any]]:
        """Reads the elements that a block declares, each with its type."""
        ...
    @property
    def places(self) -> Places | None:
        """Tells how many places a block has, and whether it takes records; null for a block without such rules."""
        ...
    def display(self, record: Record | str | None = None, edit: bool = False) -> str:
        """Renders a block as HTML, with a record or without."""
        ...


class Record:
    """A record: its items are keys and, unless a method has the name, attributes. What is set is saved at the end."""

    @property
    def id(self) -> str: ...
    @property
    def url(self) -> str: ...
    def absolute_url(self) -> str: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def pop(self, name: str, *default: Any) -> Any: ...
    def setdefault(self, name: str, default: Any = None) -> Any: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Any]: ...
    def items(self) -> list[tuple[str, Any]]: ...
    def get_item(self, name: str, default: Any = None) -> Any: ...
    def set_item(self, name: str, value: Any) -> None: ...
    def has_item(self, name: str) -> bool: ...
    def remove_item(self, name: str) -> None: ...
    def set_block(self, block_id: str) -> Record: ...
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __getattr__(self, item: str) -> Any: ...
    def __setattr__(self, item: str, value: Any) -> None: ...
    def set(self, name: str | dict[str, Any], value: Any = None) -> Record:
        """Sets, removes or adds to items of a record."""
        ...
    def update(self, items: dict[str, Any] | None = None, **more: Any) -> None:
        """Sets, removes or adds to items of a record."""
        ...
    def inc(self, name: str, by: float = 1) -> float:
        """Sets, removes or adds to items of a record."""
        ...
    def __setitem__(self, name: str, value: Any) -> None:
        """Sets, removes or adds to items of a record."""
        ...
    def __delitem__(self, name: str) -> None:
        """Sets, removes or adds to items of a record."""
        ...
    def save(self, items: dict[str, Any] | None = None, block_id: str | None = None, block: Block | None = None, creation: bool = False, request: Request | None = None) -> Any:
        """Saves a record; with a block, its computed elements and on_save run."""
        ...
    def reindex(self) -> None:
        """Writes the index rows of a record again."""
        ...
    @property
    def creator(self) -> Creator | None:
        """Tells who has created a record; null for anonymous and for an account that no longer exists."""
        ...
    def display(self, edit: bool = False) -> str:
        """Renders a record with its block, as HTML."""
        ...


class Creator:
    """Who has created a record."""

    id: str
    username: str


class Places:
    """What a block says of its places."""

    limit: int | None
    taken: int
    left: int | None
    waiting: int
    state: str


class Records(list[Record]):
    """A page of records."""

    cursor: str | None


class ParentRequest:
    """The request of the page that embeds the block."""

    method: str
    url: str
    URL: str
    path: str
    query: dict[str, Any]
    form: dict[str, Any]
    body: Any
    headers: dict[str, str]
    def get(self, name: str, default: Any = None) -> Any: ...
    def has(self, name: str) -> bool: ...
    def has_key(self, name: str) -> bool: ...
    def keys(self) -> list[str]: ...
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...


class Request(ParentRequest):
    """The current request."""

    response: Response


class Response:
    """What the answer will say."""

    status: int | None
    def set_header(self, name: str, value: str) -> None:
        """Changes the status, a header or the redirect of the response."""
        ...
    def setHeader(self, name: str, value: str) -> None:
        """Changes the status, a header or the redirect of the response."""
        ...
    def setStatus(self, status: int) -> None:
        """Changes the status, a header or the redirect of the response."""
        ...
    def redirect(self, url: str) -> None:
        """Changes the status, a header or the redirect of the response."""
        ...


class Mail:
    """Mail of the app, to addresses that its settings allow."""

    def send(self, to: str | list[str], subject: str, text: str | None = None, html: str | None = None, reply_to: str | None = None) -> None:
        """Queues a mail, which is sent once the request is stored."""
        ...


class FetchAnswer:
    """What a web service has answered."""

    status: int
    ok: bool
    headers: dict[str, str]
    text: str
    @property
    def json(self) -> Any: ...


class Jobs:
    """Calls of functions that are made later."""

    def add(self, target: str, params: dict[str, Any] | None = None, *, delay: float | None = None, at: str | None = None, key: str | None = None) -> str:
        """Has a function run later, once the request is stored; gives the id of the job."""
        ...
    def fetch(self, url: str, method: str = 'GET', headers: dict[str, str] | None = None, body: str | dict[str, Any] | list[Any] | None = None, timeout: float | None = None) -> str:
        """Calls a web service once the request is stored, until it answers with 2xx; gives the id of the job."""
        ...


class Visitor:
    """A visitor, with or without a login."""

    id: str | None


class Portal:
    """The site."""

    id: str
    title: str
    url: str
    theme: str
    locale: str | None
    time_zone: str
    def absolute_url(self) -> str: ...
    def day_begin(self, day: Any = '', days: int = 0) -> str: ...
    def get(self, path: str = '') -> ContentItem | None:
        """Reads the content item at a path of the site."""
        ...
    def __getitem__(self, path: str) -> ContentItem:
        """Reads the content item at a path of the site."""
        ...


class ContentItem:
    """A content item; its fields are attributes and keys."""

    type: str
    id: str
    documentId: str | None
    title: str
    url: str
    path: str
    locale: str | None
    def absolute_url(self) -> str: ...
    def absolute_url_path(self) -> str: ...
    def getURL(self) -> str: ...
    def getPath(self) -> str: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...
    def __getattr__(self, field: str) -> Any: ...


class Content(ContentItem):
    """The current content item: what is assigned to its fields is stored at the end of the request."""

    def __setattr__(self, field: str, value: Any) -> None: ...
    def update(self, data: dict[str, Any] | None = None, **more: Any) -> Content:
        """Changes fields of the current content item."""
        ...


class Api:
    """The host's content, with the rights of the requester."""

    user: User
    content: ContentApi
    portal: PortalApi
    def documents(self, uid: str) -> Documents:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...


class PortalApi:
    """Rapido's way to the site."""

    def get(self) -> Portal: ...


class ContentApi:
    """Content as apps made for Rapido use it."""

    def get(self, path: str = '') -> ContentItem | None:
        """Reads the content item at a path of the site."""
        ...
    def find(self, context: Any = None, depth: Any = None, portal_type: str | None = None, type: str | None = None, sort_on: str | None = None, sort_order: str | None = None, sort_limit: int | None = None, **filters: Any) -> list[ContentItem]:
        """Finds published content of one type, with the permissions of the requester."""
        ...
    def create(self, container: Any = None, type: str | None = None, id: str | None = None, title: str | None = None, safe_id: bool = False, portal_type: str | None = None, **fields: Any) -> ContentItem:
        """Makes content, as a draft where its type has drafts."""
        ...
    def transition(self, obj: ContentItem | Content | None = None, transition: str | None = None, to_state: str | None = None) -> None:
        """Publishes content, or unpublishes it."""
        ...


class Documents:
    """Strapi's documents of one content type; parameters as there, as a dict or by name."""

    def findMany(self, params: dict[str, Any] | None = None, **more: Any) -> list[Any]:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def findFirst(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def findOne(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def count(self, params: dict[str, Any] | None = None, **more: Any) -> int:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def create(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def update(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def delete(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def publish(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def unpublish(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...
    def discardDraft(self, params: dict[str, Any] | None = None, **more: Any) -> Any:
        """Calls a method of Strapi's documents with the requester's permissions."""
        ...


class User:
    """The requester; falsy, and equal to None, for anonymous."""

    def is_anonymous(self) -> bool: ...
    def get_current(self) -> User: ...
    def getProperty(self, name: str, default: Any = None) -> Any: ...
    def getUserName(self) -> str | None: ...
    def getId(self) -> str | None: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __bool__(self) -> bool: ...
    def __getattr__(self, field: str) -> Any: ...
