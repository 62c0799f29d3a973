-- ARGV: how many tokens the run may use, or '' for any number; origin kind, origin id. Answers 'ended' for a run that has ended or
-- is being stopped.
local refused = refusal()
if refused then return refused end
if is_stopped() then return 'ended' end
local before = redis.call('HGET', keys.run, 'budget') or ''
if before == ARGV[1] then return 'set' end
local at, origin = now(), { ARGV[2], ARGV[3] }
if ARGV[1] == '' then
  redis.call('HDEL', keys.run, 'budget')
else
  redis.call('HSET', keys.run, 'budget', ARGV[1])
end
local function shown(limit)
  return tonumber(limit) or cjson.null
end
emit(at, { 0, body_of('budget.set', origin, {}, { of = 'run', limit = shown(ARGV[1]), before = shown(before) }) })
note_own_budget(at, origin)
advance_run(at)
return 'set'
