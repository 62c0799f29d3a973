-- ARGV: that the run's project has used up its budget of the day, as JSON {limit, used, needs?, resets_at}, or '' when it has not; origin
-- kind, origin id; all that the run was granted of its project's days, or '' when these have no budget; how much of it the run keeps
-- that is neither used nor reserved.
local refused = refusal()
if refused then return refused end
if is_stopped() then return 'same' end
local granted = redis.call('HGET', keys.run, 'granted')
if ARGV[4] ~= '' then
  redis.call('HSET', keys.run, 'granted', text(math.max(tonumber(granted or '0'), tonumber(ARGV[4]))))
  return_room(tonumber(ARGV[5]))
elseif granted then
  redis.call('HSET', keys.run, 'returned', granted)
  redis.call('HDEL', keys.run, 'granted')
end
local at = now()
local wait = ARGV[1] ~= '' and cjson.decode(ARGV[1]) or nil
note_over('project', wait, at, { ARGV[2], ARGV[3] })
advance_run(at)
return 'noted'
