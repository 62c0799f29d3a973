-- Further KEYS: agenda. ARGV: token, lease in ms. Claims the present step of the run's conductor, or renews the claim of the token.
-- What another one had reserved is free, unless it is what a reply has used that this step counts. Answers named fields, name and value in
-- turn (conductor-steps.ts).
local refused = refusal()
-- A step takes in no more messages than this.
local max_inbox = 200
if refused then return refused end
local agenda = KEYS[own_keys + 1]
local run = redis.call('HMGET', keys.run, 'cancel', 'status', 'conductor', 'agenda_version', 'decided_by')
if is_stopped(run) or run[3] ~= 'open' then return { 'kind', 'over' } end
local held = redis.call('HMGET', agenda, 'token', 'until', 'state', 'reply')
local at = now()
if held[1] and held[1] ~= ARGV[1] and tonumber(held[2]) > at then return { 'kind', 'busy', 'untilMs', held[2] } end
if (held[1] ~= ARGV[1] or ARGV[2] == '0') and not held[4] then reserve(agenda, 0) end
redis.call('HSET', agenda, 'token', ARGV[1], 'until', text(at + tonumber(ARGV[2])))
return {
  'kind', 'claimed', 'version', run[4] or '0', 'decidedBy', run[5], 'state', held[3], 'reply', held[4],
  'inbox', cjson.encode(redis.call('LRANGE', keys.inbox, 0, max_inbox - 1)), 'items', cjson.encode(redis.call('HGETALL', keys.items)),
}
