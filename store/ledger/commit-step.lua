-- Further KEYS: agenda. ARGV: token, version, state, number of messages that it has taken in, why the conductor waits or '', '' or 'done' or
-- 'blocked' when it decides no more, code and reason of that or '', number of items to plan, (item, '1' when its operations are only
-- counted, the tokens and the seconds that it may use or '')…, (event age, event body)…
-- The token stays with the version that it has made, so that its holder learns that a commit it sends again was applied. `open`: an item has
-- not ended that is to be planned again.
local refused = refusal()
if refused then return refused end
local agenda = KEYS[own_keys + 1]
local held = redis.call('HMGET', agenda, 'token', 'made_by')
local run = redis.call('HMGET', keys.run, 'cancel', 'status', 'conductor', 'agenda_version')
local version = tonumber(run[4] or '0')
if held[2] == ARGV[1] and version == tonumber(ARGV[2]) + 1 then return 'committed' end
if held[1] ~= ARGV[1] or version ~= tonumber(ARGV[2]) or run[3] ~= 'open' or is_stopped(run) then return 'lost' end

local items = tonumber(ARGV[9])
local first_event = 10 + 4 * items
for i = 10, first_event - 1, 4 do
  if tonumber(item_field(ARGV[i], 'open') or '0') > 0 then return 'open' end
end

local at = now()
local consumed = tonumber(ARGV[4])
if consumed > 0 then
  redis.call('LTRIM', keys.inbox, consumed, -1)
  redis.call('HINCRBY', keys.run, 'messages', -consumed)
end
version = version + 1
redis.call('HSET', agenda, 'state', ARGV[3], 'made_by', ARGV[1])
reserve(agenda, 0)
redis.call('HDEL', agenda, 'token', 'until', 'reply')
redis.call('HSET', keys.run, 'agenda_version', text(version))

-- An item that was to be planned before is planned for this version only.
local again, planning = {}, {}
for i = 10, first_event - 1, 4 do again[ARGV[i]] = true end
for _, one in ipairs(cjson.decode(redis.call('HGET', keys.run, 'planning') or '[]')) do
  if not again[one.item_id] then planning[#planning + 1] = one end
end
for i = 10, first_event - 1, 4 do
  local item, estimated, tokens, seconds = ARGV[i], ARGV[i + 1] == '1', ARGV[i + 2], tonumber(ARGV[i + 3])
  local fields = {}
  for _, what in ipairs(item_fields) do fields[#fields + 1] = item .. ':' .. what end
  redis.call('HDEL', keys.items, unpack(fields))
  redis.call('HSET', keys.items, item .. ':round', text(version))
  if tokens ~= '' then redis.call('HSET', keys.items, item .. ':budget', tokens) end
  set_deadline(item, seconds and not estimated and { at = at + 1000 * seconds, looked_at = 0 } or nil)
  planning[#planning + 1] = { item_id = item, version = version, estimate = estimated }
end
if #planning > 0 then redis.call('HSET', keys.run, 'planning', cjson.encode(planning)) end

emit(at, ARGV, first_event)

-- A conductor that still waits for the same is not told of again.
local kind = ARGV[5] ~= '' and cjson.decode(ARGV[5]).kind or nil
local before = conductor_wait()
if kind ~= (before and before.kind) or kind == 'budget' or consumed + items > 0 then
  has_changed = true
  redis.call('HDEL', keys.run, 'conductor_waits')
  if kind then
    local wait = cjson.decode(ARGV[5])
    wait.since = at
    redis.call('HSET', keys.run, 'conductor_waits', cjson.encode(wait))
    if kind == 'budget' then
      redis.call('HSET', keys.run, 'lacking', text(wait.needs))
      note_own_budget(at, ledger_origin)
      tell_over(at, ledger_origin) -- of a budget, too, that was used up before anything waited for it
    end
  end
end
if ARGV[6] ~= '' then
  redis.call('HSET', keys.run, 'conductor', ARGV[6], 'conductor_code', ARGV[7], 'conductor_reason', ARGV[8])
  redis.call('HDEL', keys.run, 'planning', 'conductor_waits')
end
advance_run(at)
return 'committed'
