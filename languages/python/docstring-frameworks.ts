export type ReadingBase = {
  base: RegExp
  of: 'class' | 'methods' | 'both'
  methods?: RegExp
  reader: string
}

/** The comment above each row names where the framework reads `__doc__`. Patterns compare only the package and the class, which may be re-exported. */
export const readingBases: readonly ReadingBase[] = [
  // Lib/cmd.py, do_help: `doc = getattr(self, 'do_' + arg).__doc__`
  { base: /^cmd2?\.(\w+\.)?Cmd$/, of: 'methods', methods: /^do_/, reader: 'cmd prints it as help' },
  // Lib/unittest/case.py, shortDescription: `doc = self._testMethodDoc`
  {
    base: /^(unittest2?|asynctest|django\.test|twisted\.trial|aiounittest|tornado\.testing|testtools)\..*TestCase$|^unittest\..*TestCase$/,
    of: 'methods',
    methods: /^test/,
    reader: 'unittest prints it instead of the name of the test',
  },
  // pydantic/json_schema.py, model_schema: `docstring = None if cls is BaseModel … else cls.__doc__`
  {
    base: /^(pydantic|pydantic_settings|sqlmodel|ninja|beanie|odmantic|fastapi_users)\.([\w.]+\.)?(BaseModel|BaseSettings|RootModel|GenericModel|SQLModel|Schema|ModelSchema|Document|Model)$/,
    of: 'class',
    reader: 'pydantic makes it the description of the JSON schema',
  },
  // msgspec/_json_schema.py: `doc = getattr(t.cls, "__doc__", "")`
  { base: /^msgspec\.Struct$/, of: 'class', reader: 'msgspec makes it the description of the JSON schema' },
  // graphene/types/base.py: `_meta.description = description or trim_docstring(cls.__doc__)`
  { base: /^graphene(_\w+)?\.\w+$/, of: 'class', reader: 'graphene makes it the description in the GraphQL schema' },
  // sgqlc/types/__init__.py, ContainerTypeMeta: `__doc__` of a type is that of the schema
  { base: /^sgqlc\.types\.\w+$/, of: 'class', reader: 'sgqlc prints it in the schema' },
  // rest_framework/views.py, get_view_description; rest_framework/schemas/inspectors.py, get_description
  {
    base: /^rest_framework\.(views|viewsets|generics|mixins)\.\w+$/,
    of: 'both',
    reader: 'Django REST framework shows it as the description of the endpoint',
  },
  // drf_spectacular/openapi.py, get_description of a serializer: `get_doc(serializer.__class__)`
  { base: /^rest_framework\.serializers\.\w+$/, of: 'class', reader: 'OpenAPI generators make it a description' },
  // flask_restx/swagger.py, extract_resource_doc: `parse_docstring(method_impl)`
  {
    base: /^flask_rest(x|plus)\.Resource$/,
    of: 'both',
    reader: 'flask-restx makes it the description of the endpoint',
  },
  // apispec_webframeworks/flask.py and flask_smorest/blueprint.py: `load_operations_from_docstring(view.__doc__)`
  {
    base: /^flask\.views\.(MethodView|View)$|^flask_classful\.FlaskView$/,
    of: 'both',
    reader: 'OpenAPI extensions of Flask read it as YAML',
  },
  // starlette/schemas.py, parse_docstring: `docstring.split("---")[-1]` is read as YAML
  { base: /^starlette\.endpoints\.\w+$/, of: 'methods', reader: 'starlette reads it as the schema of the endpoint' },
  // aiohttp_swagger/helpers/builders.py: `end_point_doc = method.__doc__.splitlines()`
  { base: /^aiohttp\.web\.View$/, of: 'methods', reader: 'aiohttp-swagger reads it as YAML' },
  // cliff/command.py, get_description: `inspect.getdoc(self.__class__)`
  { base: /^(cliff|osc_lib)\..*(Command|Lister|ShowOne)\w*$/, of: 'class', reader: 'cliff prints it as help' },
  // plumbum/cli/application.py: `DESCRIPTION` or `self.__doc__`
  { base: /^plumbum\.cli\.(\w+\.)?Application$/, of: 'class', reader: 'plumbum prints it as help' },
  // tap/tap.py, __init__: the class's docstring is the description of the parser
  { base: /^tap\.Tap$/, of: 'class', reader: 'typed-argument-parser prints it as help' },
  // twisted/python/usage.py, _gather_handlers: `doc = getattr(method, '__doc__', None)`
  { base: /^twisted\.python\.usage\.Options$/, of: 'methods', methods: /^opt_/, reader: 'twisted prints it as help' },
  // discord/ext/commands/cog.py, CogMeta: `description = inspect.cleandoc(attrs.get('__doc__', ''))`
  {
    base: /^(discord|nextcord|disnake)\.ext\.commands\.\w*Cog$|^redbot\.core\.commands\.Cog$/,
    of: 'class',
    reader: 'the bot shows it as help',
  },
  // errbot/core_plugins/help.py: `obj.__class__.__doc__`
  { base: /^errbot\.BotPlugin$/, of: 'both', reader: 'errbot shows it as help' },
  // GDB manual, "Commands In Python": the documentation string of the class is that of the command
  { base: /^gdb\.(Command|Parameter|Function)$/, of: 'class', reader: 'GDB shows it as help' },
  // dspy/signatures/signature.py, SignatureMeta: `cls.__doc__` are the instructions
  { base: /^dspy\.(\w+\.)*Signature$/, of: 'class', reader: 'DSPy sends it to the model as its instructions' },
  // zope/interface/interface.py, InterfaceClass: `doc = attrs.get('__doc__')`, and of its methods
  { base: /^zope\.interface\.(\w+\.)?Interface$/, of: 'both', reader: 'zope.interface keeps it in the interface' },
  // spark_parser/spark.py, collectRules: `rules = getattr(self, name).__doc__`
  {
    base: /^(spark|spark_parser)\..*(Generic\w+)$/,
    of: 'methods',
    methods: /^(p_|t_)/,
    reader: 'SPARK reads the grammar from it',
  },
  // Lib/xmlrpc/server.py, system_methodHelp: `pydoc.getdoc(method)`; DocXMLRPCServer prints all
  { base: /^xmlrpc\.server\.\w+$/, of: 'methods', reader: 'the XML-RPC server answers it as help' },
  // locust, robot and traitlets read class docstrings only for documentation: no rows.
  // traitlets/config/application.py: `description` defaults to the class's docstring in subcommands' help
  { base: /^traitlets\.config\.(\w+\.)?Application$/, of: 'class', reader: 'traitlets prints it as help' },
]

export type ReadingModule = {
  module: RegExp
  reader: string
  /** Reads all functions of these names in files that import it; without it, names that such files pass on as values. */
  functions?: RegExp
}

/** Modules that read the docstrings of what is passed to their functions, rather than decorated or inherited. */
export const readingModules: readonly ReadingModule[] = [
  // click/decorators.py, command: `attrs["help"] = f.__doc__`
  { module: /^(click|asyncclick|rich_click|cloup)$/, reader: 'click prints it as help' },
  // typer/main.py, get_command_from_info: `use_help = inspect.getdoc(command_info.callback)`
  { module: /^typer$/, reader: 'typer prints it as help' },
  // invoke/tasks.py, Task: `self.__doc__ = getattr(body, "__doc__", "")`, shown by program.py
  { module: /^(invoke|fabric)(\.|$)/, reader: 'invoke prints it as help' },
  // fire/helptext.py and docstrings.py parse the docstring of each component
  { module: /^fire$/, reader: 'fire prints it as help' },
  // plac_core.py, parser_from: `longhelp = func.__doc__`
  { module: /^plac(_core)?$/, reader: 'plac prints it as help' },
  // clize/help.py; defopt.py, _parse_docstring; argh/assembling.py: `help=function.__doc__`
  {
    module: /^(clize|defopt|argh|baker|begin|cyclopts|autocommand|commandr|aaargh)(\.|$)/,
    reader: 'the command line prints it',
  },
  // tyro/_docstrings.py; jsonargparse/_parameter_resolvers.py; simple_parsing/docstring.py
  {
    module: /^(tyro|jsonargparse|simple_parsing|datargs|pydantic_argparse)(\.|$)/,
    reader: 'the command line prints it',
  },
  // ply/yacc.py, get_pfunctions and validate_modules: `func.__doc__` holds the rule
  {
    module: /^(ply|slimit\.ply|\w*\.?_?vendor\.ply)(\.|$)/,
    functions: /^[pt]_/,
    reader: 'PLY reads the grammar from it',
  },
  // fastapi/routing.py, APIRoute: `self.description = … inspect.cleandoc(self.endpoint.__doc__ or "")`
  { module: /^fastapi(\.|$)/, reader: 'FastAPI makes it the description of the endpoint' },
  // flasgger/utils.py, parse_docstring; apispec/yaml_utils.py, load_operations_from_docstring
  {
    module: /^(flasgger|apispec\w*|flask_smorest|flask_apispec|aiohttp_swagger|aiohttp_apispec)(\.|$)/,
    reader: 'it is read as YAML',
  },
  // langchain_core/tools/structured.py, from_function; llama_index/core/tools/function_tool.py
  {
    module:
      /^(langchain\w*|llama_index|crewai|autogen\w*|pydantic_ai|smolagents|agents|mcp|fastmcp|google\.adk|ollama|semantic_kernel)(\.|$)/,
    reader: 'it is sent to a model as the description of a tool',
  },
  // Lib/xmlrpc/server.py, system_methodHelp: `pydoc.getdoc(method)`
  { module: /^xmlrpc\.server$/, reader: 'the XML-RPC server answers it as help' },
]

/** Matches decorators that ignore or only copy a docstring. Any other may use it: as help text, description or name of a test. */
const harmless: readonly RegExp[] = [
  /^(property|staticmethod|classmethod)$/,
  /^(functools|contextlib|contextlib2|abc|typing|typing_extensions|enum|dataclasses|atexit|asyncio|types)\.\w+$/,
  /^functools\.\w+\.register$/,
  /^(attr|attrs)\.(s|attrs|define|mutable|frozen|dataclass|attributes)$/,
  /^(warnings|typing_extensions|deprecated|deprecation|debtcollector\.removals)\.(deprecated|remove)$/,
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

/** Matches decorators of attrs: `@price.validator` and `@price.default`, where `price` is a field of the class. */
const fieldDecorator = /^\??\.?\w+\.(validator|default)$/

/** Is true when the decorator of this name is known not to use a docstring. `modules` are its file's imports. */
export function isHarmlessDecorator(name: string, modules: readonly string[]): boolean {
  if (harmless.some((pattern) => pattern.test(name))) return true
  return fieldDecorator.test(name) && modules.some((module) => /^attrs?($|\.)/.test(module))
}
