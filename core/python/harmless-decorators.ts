/**
 * Decorators that do not look at a docstring, or only copy it. What any other decorator does with one is not known: it may
 * be the help text of a command, the description of a tool, or a test's name.
 */
const harmless: readonly RegExp[] = [
  /^(property|staticmethod|classmethod)$/,
  /^(functools|contextlib|contextlib2|abc|typing|typing_extensions|enum|dataclasses|atexit|asyncio|types)\.\w+$/,
  /^functools\.\w+\.register$/,
  // What decorates a class as a record.
  /^(attr|attrs)\.(s|attrs|define|mutable|frozen|dataclass|attributes)$/,
  /^(warnings|typing_extensions|deprecated|deprecation|debtcollector\.removals)\.(deprecated|remove)$/,
  // Properties that are computed once.
  /(^|\.)(cached_property|cachedproperty|lazy_property|classproperty|hybrid_property|hybrid_method|lazyproperty)$/,
  /^six\.(add_metaclass|python_2_unicode_compatible|wraps)$/,
  /^zope\.interface\.(implementer|provider|implementer_only)$/,
  /^(sqlalchemy\.orm|sqlalchemy\.ext\.(declarative|hybrid))\.(validates|reconstructor|declared_attr)(\.\w+)?$/,
  /^sqlalchemy\.event\.listens_for$/,
  /^pydantic\.(v1\.)?(validator|root_validator|field_validator|model_validator|field_serializer|model_serializer|validate_call|validate_arguments)$/,
  /^marshmallow\.(\w+\.)?(validates|validates_schema|pre_load|post_load|pre_dump|post_dump)$/,
  /^(tenacity|retrying)\.retry$|^backoff\.on_(exception|predicate)$|^ratelimit\.\w+$/,
  /^django\.(db\.transaction\.\w+|utils\.(functional|deconstruct|decorators|safestring)\.\w+|dispatch\.receiver)$/,
  /^django\.(views\.decorators|contrib\.auth\.decorators)\.[\w.]+$/,
  /^jinja2\.(\w+\.)?(pass_context|pass_eval_context|pass_environment|contextfunction|environmentfunction)$/,
  /^(numba|llvmlite)\.\w+$|^torch\.(no_grad|inference_mode|jit\.\w+|compile)$|^jax\.(jit|vmap|pmap|custom_jvp|custom_vjp)$/,
  /^twisted\.internet\.defer\.(inlineCallbacks|deferredGenerator)$|^tornado\.(gen\.coroutine|web\.authenticated)$/,
  /^(beartype|typeguard|wrapt)\.\w+$|^multipledispatch\.dispatch$|^trio\.\w+$|^anyio\.\w+$/,
  /^cython\.\w+$|^gi\.repository\.GObject\.\w+$|^(PyQt\d|PySide\d)\.QtCore\.(Slot|pyqtSlot|Property)$/,
]

/** Decorators of attrs: `@price.validator` and `@price.default`, where `price` is a field of the class. */
const fieldDecorator = /^\??\.?\w+\.(validator|default)$/

/** Whether the decorator of this dotted name surely leaves a docstring alone. `modules` are those its file imports. */
export function isHarmlessDecorator(name: string, modules: readonly string[]): boolean {
  if (harmless.some((pattern) => pattern.test(name))) return true
  return fieldDecorator.test(name) && modules.some((module) => /^attrs?($|\.)/.test(module))
}
