-- ARGV: reason, error code or '', origin kind, origin id, then the phases in which the run is stopped; none: any.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'status', 'cancel', 'phase')
if run_has_ended[run[1]] then return 'ended' end
if run[2] == '1' then return 'stopping' end
local applies = #ARGV == 4
for i = 5, #ARGV do applies = applies or ARGV[i] == run[3] end
if not applies then return 'elsewhere' end
stop_run({ 'cancel_reason', ARGV[1], 'cancel_code', ARGV[2], 'cancel_by', ARGV[3] .. '/' .. ARGV[4] })
return 'stopping'
