-- Further KEYS: op:<O> of each operation of the slice, node:<O> of each, then after:<D> of each distinct operation they wait for.
-- ARGV: slice number, '1' when it is the last, number of operations, number of distinct dependencies, those dependencies,
-- then per operation: id, bundle, bundle hash, node id, node, priority, number of dependencies, their indices in the list.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'status', 'planned', 'slices', 'operations')
local slice = tonumber(ARGV[1])
local slices = tonumber(run[3] or '0')
if slice < slices then return 'already' end
if run_has_ended[run[1]] then return 'refused' end
if slice > slices or run[2] == '1' then return 'out_of_order' end

local operations, dependencies = tonumber(ARGV[3]), tonumber(ARGV[4])
local first_arg = 5 + dependencies
local planned_here = {}
local arg = first_arg
for _ = 1, operations do
  planned_here[ARGV[arg]] = true
  arg = arg + 7 + tonumber(ARGV[arg + 6])
end
for i = 1, dependencies do
  local dependency = ARGV[4 + i]
  if not planned_here[dependency] and not redis.call('ZSCORE', keys.operations, dependency) then
    return { 'unknown_dependency', dependency }
  end
end

local index = tonumber(run[4] or '0')
local pending, ready = 0, 0
arg = first_arg
for i = 1, operations do
  local id, left = ARGV[arg], tonumber(ARGV[arg + 6])
  local rank = text(tonumber(ARGV[arg + 5]) * 1e9 + index)
  local op = KEYS[9 + i]
  if left == 0 then
    redis.call('HSET', op, 'status', 'ready', 'bundle', ARGV[arg + 1], 'hash', ARGV[arg + 2], 'nid', ARGV[arg + 3], 'rank', rank)
    redis.call('ZADD', keys.ready, rank, id)
    ready = ready + 1
  else
    redis.call('HSET', op, 'status', 'pending', 'bundle', ARGV[arg + 1], 'hash', ARGV[arg + 2], 'nid', ARGV[arg + 3], 'rank', rank, 'left', left)
    for d = 1, left do redis.call('RPUSH', KEYS[9 + 2 * operations + tonumber(ARGV[arg + 6 + d])], id) end
    pending = pending + 1
  end
  redis.call('SET', KEYS[9 + operations + i], ARGV[arg + 4])
  redis.call('ZADD', keys.operations, index, id)
  index = index + 1
  arg = arg + 7 + left
end
redis.call('HINCRBY', keys.run, 'n:pending', pending)
redis.call('HINCRBY', keys.run, 'n:ready', ready)
redis.call('HSET', keys.run, 'slices', slice + 1, 'operations', index)
if ARGV[2] == '1' then redis.call('HSET', keys.run, 'planned', '1') end
return 'planned'
