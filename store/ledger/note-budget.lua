-- ARGV: that the run's project has used up its budget of the day, as JSON {limit, used, resets_at}, or '' when it has not; origin
-- kind, origin id.
local refused = refusal()
if refused then return refused end
if is_stopped() then return 'same' end
local at = now()
local wait = ARGV[1] ~= '' and cjson.decode(ARGV[1]) or nil
note_over('project', wait, at, { ARGV[2], ARGV[3] })
advance_run(at)
return 'noted'
