-- Further KEYS: op:<O> of each operation of the slice, node:<O> of each, then after:<D> of each distinct dependency.
-- ARGV: slice number, '1' when it is the last, the plan's hash or ''; or 0, 'again', '' for operations that repeat others of a run in
-- review, which begins its next generation; the generation that the caller has seen; the item of the agenda that the operations are of or '',
-- the version of the agenda that has dispatched it, hash of what its nodes are of, what it is for, works of it that have no operation; then the
-- number of operations, the number of distinct dependencies, those dependencies, then per operation: id, bundle, bundle hash, node id, node,
-- priority, work, the operations whose changes it starts from or '', what it repeats or '', number of dependencies, their indices in the list,
-- below 0 for one that need not end well. After the operations: (event age, event body)…
-- Items of a run whose conductor decides are planned while it executes, each in slices of its own, under the next generation where there are
-- operations already: `generation` is that of its operations.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'status', 'planned', 'slices', 'operations', 'cancel', 'plan_hash', 'phase',
  'agent_bundles')
local slice, slices, again = tonumber(ARGV[1]), tonumber(run[3] or '0'), ARGV[2] == 'again'
local generation, seen = generation_of_run(), tonumber(ARGV[4])
local operations, dependencies = tonumber(ARGV[10]), tonumber(ARGV[11])
local first_dependency = 12
local first_arg = first_dependency + dependencies
local item = ARGV[5] ~= '' and ARGV[5]
local plan_hash, own_generation = run[6] or '', nil
if item then
  slices, plan_hash, own_generation = tonumber(item_field(item, 'slices') or '0'), item_field(item, 'plan') or '', item_field(item, 'gen')
  if item_field(item, 'round') ~= ARGV[6] then return 'refused' end
  -- The first slice begins the item's generation, which the others are of.
  if not own_generation and tonumber(run[4] or '0') > 0 then generation = generation + 1 end
  generation = tonumber(own_generation or generation)
end
-- Another composer, which saw other decisions, may have planned some more, which may have ended since.
if again and generation == seen + 1 then return 'already' end
if generation ~= seen then return 'refused' end
local planned_here = {}
local arg = first_arg
for _ = 1, operations do
  planned_here[ARGV[arg]] = true
  arg = arg + 10 + tonumber(ARGV[arg + 9])
end
local after_operations = arg
if not again then
  if slices > 0 and plan_hash ~= ARGV[3] then return 'another_plan' end
  if slice < slices then return 'already' end
end
if run_has_ended[run[1]] or run[5] == '1' then return 'refused' end
if again and run[7] ~= 'review' then return 'refused' end
if item and (slice > slices or run[7] ~= 'execution' or not is_planning(item, ARGV[6])) then return 'refused' end
if not item and not again and (slice > slices or run[2] == '1' or run[7] == 'execution') then return 'out_of_order' end

for i = 1, dependencies do
  local dependency = ARGV[first_dependency - 1 + i]
  if not planned_here[dependency] and not redis.call('ZSCORE', keys.operations, dependency) then
    return { 'unknown_dependency', dependency }
  end
end

if again then generation = redis.call('HINCRBY', keys.run, 'generation', generation == 1 and 2 or 1) end
if item and not own_generation then
  if generation > 1 then redis.call('HSET', keys.run, 'generation', text(generation)) end
  redis.call('HSET', keys.items, item .. ':gen', text(generation), item .. ':objective', ARGV[8], item .. ':left', ARGV[9], item .. ':first', run[4] or '0')
  local started = emit(now(), ARGV, after_operations, redis.call('HGET', keys.run, 'decided_by'))
  redis.call('HSET', keys.items, item .. ':started', text(started))
end
local started = item and item_field(item, 'started')

-- Codes whose first failure is superseded here.
local without_first = {}

-- The last event with which one of those that are done once more has ended.
local last_end = 0

-- Takes an operation whose work is done once more out of what counts. Its record stays to be read.
local function supersede(id, by)
  local op = prefix .. 'op:' .. id
  local fields = redis.call('HMGET', op, 'status', 'outcome', 'cause', 'item', 'gen')
  local status, outcome = fields[1], fields[2] or ''
  last_end = math.max(last_end, tonumber(fields[3] or '0'))
  redis.call('HSET', op, 'superseded', by)
  redis.call('HINCRBY', keys.run, 'n:' .. status, -1)
  -- Inside a text the quotes are escaped, so these cannot match there.
  local findings = string.match(outcome, '"findings":(%d+)')
  if findings and redis.call('ZREM', keys.reported, id) == 1 then redis.call('HINCRBY', keys.run, 'findings', -findings) end
  -- Its item does not count its change sets any more, unless it counts anew since it was dispatched once more.
  local _, sets = string.gsub(string.match(outcome, '"changeSetIds":(%b[])') or string.match(outcome, '"changeSetId":("%w+")') or '', '"%w+"', '')
  if item and fields[4] and (fields[5] or '1') == item_field(fields[4], 'gen') then
    redis.call('HINCRBY', keys.items, fields[4] .. ':replaced', sets)
  end
  if status ~= 'failed' and status ~= 'blocked' then return end
  redis.call('ZREM', keys[status], id)
  local code = string.match(outcome, '"errorCode":"([^"]*)"') or ''
  if redis.call('HINCRBY', keys.failures, code, -1) == 0 then
    redis.call('HDEL', keys.failures, code, code .. ':first')
    without_first[code] = nil
  elseif redis.call('HGET', keys.failures, code .. ':first') == id then
    without_first[code] = true
  end
end

-- Names another failure as the first of such a code, if one of the first failures in the plan has it.
local looked_at = 500
local function name_first_failures()
  if not next(without_first) then return end
  for _, set in ipairs({ keys.failed, keys.blocked }) do
    for _, id in ipairs(redis.call('ZRANGE', set, 0, looked_at - 1)) do
      local code = string.match(redis.call('HGET', prefix .. 'op:' .. id, 'outcome') or '', '"errorCode":"([^"]*)"') or ''
      if without_first[code] then
        redis.call('HSET', keys.failures, code .. ':first', id)
        without_first[code] = nil
      end
    end
  end
end

-- Sets and lists are written once, not per operation: a call from a script costs more than what most of them do. A
-- slice is small enough for `unpack`.
local index = tonumber(run[4] or '0')
local pending = 0
local listed, ranked, nodes, waiting = {}, {}, {}, {}
-- The bundles with work of agents, which need a model.
local agents = run[8] or ''
arg = first_arg
for i = 1, operations do
  local id, starts_from, repeats, left = ARGV[arg], ARGV[arg + 7], ARGV[arg + 8], tonumber(ARGV[arg + 9])
  local rank = text(tonumber(ARGV[arg + 5]) * 1e9 + index)
  local op = KEYS[own_keys + i]
  if left == 0 then
    redis.call('HSET', op, 'status', 'ready', 'bundle', ARGV[arg + 1], 'hash', ARGV[arg + 2], 'nid', ARGV[arg + 3], 'rank', rank)
    ranked[#ranked + 1] = rank
    ranked[#ranked + 1] = id
  else
    redis.call('HSET', op, 'status', 'pending', 'bundle', ARGV[arg + 1], 'hash', ARGV[arg + 2], 'nid', ARGV[arg + 3], 'rank', rank, 'left', left)
    for d = 1, left do
      local dependency = tonumber(ARGV[arg + 9 + d])
      local waits = dependency < 0 and id .. '?' or id
      dependency = math.abs(dependency)
      waiting[dependency] = waiting[dependency] or {}
      table.insert(waiting[dependency], waits)
    end
    pending = pending + 1
  end
  -- An operation without the field is an agent's, as nearly all are.
  if ARGV[arg + 6] ~= 'agent' then
    redis.call('HSET', op, 'work', ARGV[arg + 6])
  elseif not string.find(' ' .. agents .. ' ', ' ' .. ARGV[arg + 1] .. ' ', 1, true) then
    agents = agents .. ' ' .. ARGV[arg + 1]
  end
  if starts_from ~= '' then redis.call('HSET', op, 'on', starts_from) end
  if generation > 1 then redis.call('HSET', op, 'gen', text(generation)) end
  if item then redis.call('HSET', op, 'item', item, 'cause', started) end
  if repeats ~= '' then
    redis.call('HSET', op, 'repeats', repeats)
    supersede(cjson.decode(repeats).supersedes, id)
  end
  nodes[2 * i - 1], nodes[2 * i] = KEYS[own_keys + operations + i], ARGV[arg + 4]
  listed[2 * i - 1], listed[2 * i] = index, id
  index = index + 1
  arg = arg + 10 + left
end
if operations > 0 then
  redis.call('MSET', unpack(nodes))
  redis.call('ZADD', keys.operations, unpack(listed))
end
if #ranked > 0 then redis.call('ZADD', keys.ready, unpack(ranked)) end
for i = 1, dependencies do redis.call('RPUSH', KEYS[own_keys + 2 * operations + i], unpack(waiting[i])) end
name_first_failures()
redis.call('HINCRBY', keys.run, 'n:pending', pending)
redis.call('HINCRBY', keys.run, 'n:ready', #ranked / 2)
redis.call('HSET', keys.run, 'operations', index)
redis.call('HSET', keys.run, 'agent_bundles', agents)
if again then
  redis.call('HSET', keys.run, 'phase', 'execution')
  redis.call('HDEL', keys.run, 'composing')
  redis.call('HSET', keys.run, 'cause', text(emit(now(), ARGV, after_operations, last_end > 0 and last_end)))
  return 'planned'
end
if item then
  local prefixed = item .. ':'
  redis.call('HSET', keys.items, prefixed .. 'slices', slice + 1, prefixed .. 'plan', ARGV[3], prefixed .. 'reads', ARGV[7])
  redis.call('HINCRBY', keys.items, prefixed .. 'operations', operations)
  redis.call('HINCRBY', keys.items, prefixed .. 'open', operations)
  has_changed = has_changed or operations > 0
  if ARGV[2] == '1' then
    redis.call('HSET', keys.items, prefixed .. 'planned', '1')
    end_planning()
    end_item(item, now())
  elseif slice == 0 then
    local planning = cjson.decode(redis.call('HGET', keys.run, 'planning'))
    planning[1].generation = generation
    redis.call('HSET', keys.run, 'planning', cjson.encode(planning))
  end
  advance_run(now())
  return 'planned'
end
redis.call('HSET', keys.run, 'slices', slice + 1, 'plan_hash', ARGV[3])
if ARGV[2] == '1' then redis.call('HSET', keys.run, 'planned', '1') end
return 'planned'
