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

local function report(name, data)
  events[#events + 1] = 0
  events[#events + 1] = body_of(name, origin, {}, data)
end

local was, is = cjson.decode(before), cjson.decode(ARGV[1])
local old, new = by_model(was), by_model(is)
for _, one in ipairs(is) do
  if not old[one.model] then report('models.away', { model = one.model, since = one.since, bundles = one.bundles }) end
end
local is_back = false
for _, one in ipairs(was) do
  if not new[one.model] then
    report('models.back', { model = one.model, since = one.since, away_ms = math.max(0, at - one.since) })
    is_back = true
  end
end
redis.call('HSET', keys.run, 'away', ARGV[1])
if #is == 0 then redis.call('HDEL', keys.run, 'away') end
if is_back then
  has_changed = true -- a run that was waiting is looked at again
  if redis.call('ZCARD', keys.held) > 0 then redis.call('HSET', keys.run, 'wake', '-inf') end
end
emit(at, events)
advance_run(at)
return 'set'
