-- ARGV: item, the version of the agenda that has dispatched it, hash of what its nodes are of or '', 'estimate' or 'fault', that as JSON,
-- (event age, event body)…
-- Ends the planning of an item that no operation comes of: they were only counted, or it cannot be planned. `already`: it is not the
-- next item to plan.
local refused = refusal()
if refused then return refused end
if is_stopped() or not is_planning(ARGV[1], ARGV[2]) then return 'already' end
local at = now()
redis.call('HSET', keys.items, ARGV[1] .. ':' .. ARGV[4], ARGV[5])
if ARGV[3] ~= '' then redis.call('HSET', keys.items, ARGV[1] .. ':reads', ARGV[3]) end
local seq = emit(at, ARGV, 6)
set_deadline(ARGV[1], nil)
end_planning()
tell_conductor(cjson.encode({ kind = ARGV[4] == 'estimate' and 'item_estimated' or 'item_ended', item_id = ARGV[1] }), seq)
advance_run(at)
return 'noted'
