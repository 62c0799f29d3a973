-- ARGV: the models that are away and that the run needs, as JSON [{model, since, bundles}…] in the order of their names;
-- origin kind, origin id. Says in events which of them are new and which are back; what is held for those that are back
-- becomes ready again (dispatch.lua).
local refused = refusal()
if refused then return refused end
local before = redis.call('HGET', keys.run, 'away') or '[]'
if before == ARGV[1] or is_stopped() then return 'same' end
local at = now()
local origin, events = { ARGV[2], ARGV[3] }, {}

local function by_model(list)
  local found = {}
  for _, one in ipairs(list) do found[one.model] = one end
  return found
end

local function add(name, data, cause)
  events[#events + 1] = 0
  events[#events + 1] = body_of(name, origin, { cause = cause }, data)
end

local was, is = cjson.decode(before), cjson.decode(ARGV[1])
local old, new = by_model(was), by_model(is)
local gone = {}
for _, one in ipairs(is) do
  if not old[one.model] then
    add('models.away', { model = one.model, since = one.since, bundles = one.bundles })
    gone[#gone + 1] = one.model
  end
end
local is_back = false
for _, one in ipairs(was) do
  if not new[one.model] then
    local field = 'away:' .. one.model
    local data = { model = one.model, since = one.since, away_ms = math.max(0, at - one.since) }
    add('models.back', data, redis.call('HGET', keys.run, field))
    redis.call('HDEL', keys.run, field)
    is_back = true
  end
end
redis.call('HSET', keys.run, 'away', ARGV[1])
if #is == 0 then redis.call('HDEL', keys.run, 'away') end
if is_back then
  has_changed = true -- a run that was waiting is looked at again
  if redis.call('ZCARD', keys.held) > 0 then redis.call('HSET', keys.run, 'wake', '-inf') end
end
local last = emit(at, events)
for i, model in ipairs(gone) do redis.call('HSET', keys.run, 'away:' .. model, text(last - #events / 2 + i)) end
advance_run(at)
return 'set'
