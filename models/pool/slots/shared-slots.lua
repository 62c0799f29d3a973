-- Shares the slots at servers among the processes that want them: none gets a slot that another holds, and each gets the
-- number it may keep so that the others can have their even shares of what is wanted.
-- KEYS: a hash per server: holder → "held demand until", "*" → when it was last used, "!" → until when nobody is given
-- more, because Redis came back without its data: the processes that hold slots report them first; "~" → until when nobody takes
-- a slot, because the server asked for it.
-- ARGV: holder, milliseconds of a lease; then per server: its slots, how many the holder holds, how many it would use, 1 when
-- it has reported before, and until when the server asked for a pause.
-- Returns the time, then per server: how many the holder holds now, how many it may keep, and milliseconds of the pause that
-- are left. Sent twice, it returns the same.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local me, lease = ARGV[1], tonumber(ARGV[2])

-- Returns the other holders whose leases have not run out, and until when nobody is given more. No lease runs out while
-- none can be renewed, as when Redis was down.
local function readOthers(key, isKnown)
  local flat = redis.call('HGETALL', key)
  local gap, quiet = 0, 0
  for i = 1, #flat, 2 do
    if flat[i] == '*' then gap = now - tonumber(flat[i + 1]) end
    if flat[i] == '!' then quiet = tonumber(flat[i + 1]) end
  end
  if gap < lease / 2 then gap = 0 end
  if #flat == 0 and isKnown then
    quiet = now + lease / 2
    redis.call('HSET', key, '!', string.format('%.0f', quiet))
  end
  local others = {}
  for i = 1, #flat, 2 do
    local held, demand, ends = string.match(flat[i + 1], '^(%d+) (%d+) (%d+)$')
    if held and flat[i] ~= me then
      ends = ends + gap
      if ends < now then
        redis.call('HDEL', key, flat[i])
      else
        if gap > 0 then redis.call('HSET', key, flat[i], string.format('%d %d %.0f', held, demand, ends)) end
        others[#others + 1] = { name = flat[i], held = tonumber(held), demand = tonumber(demand) }
      end
    end
  end
  return others, quiet
end

-- Even shares: those that want less get what they want. What does not divide rotates. Returns my share, and the others'.
local function sharesOf(mine, others, most)
  local all = { mine }
  for _, other in ipairs(others) do all[#all + 1] = other end
  table.sort(all, function(a, b) return a.name < b.name end)
  local start = math.floor(now / 2000) % #all
  for i, one in ipairs(all) do one.turn = (i + start) % #all end
  table.sort(all, function(a, b)
    if a.demand ~= b.demand then return a.demand < b.demand end
    return a.turn < b.turn
  end)
  local left, share = most, 0
  for i, one in ipairs(all) do
    local part = math.min(one.demand, math.floor(left / (#all - i + 1)))
    if one == mine then share = part end
    left = left - part
  end
  return share, most - left - share
end

-- Returns how long nobody may take a slot.
local function pauseLeft(key, asked)
  local ends = tonumber(redis.call('HGET', key, '~') or 0)
  if asked > ends then
    ends = asked
    redis.call('HSET', key, '~', string.format('%.0f', ends))
  end
  return math.max(0, ends - now)
end

local answers = {}
for at, key in ipairs(KEYS) do
  local first = at * 5 - 2
  local most, held, demand = tonumber(ARGV[first]), tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
  local others, quiet = readOthers(key, ARGV[first + 3] == '1')
  local inUse = held
  for _, other in ipairs(others) do inUse = inUse + other.held end
  local pause = pauseLeft(key, tonumber(ARGV[first + 4]))
  local free = most - inUse
  local share, theirs = sharesOf({ name = me, demand = demand }, others, most)
  local has = held + math.max(0, math.min(share - held, free))
  if now < quiet then has = held end
  local keep = most - theirs
  if has == 0 and demand == 0 then
    redis.call('HDEL', key, me)
    if #others == 0 and pause == 0 then redis.call('DEL', key) end
    if #others == 0 and pause > 0 then redis.call('PEXPIRE', key, pause) end
  else
    redis.call('HSET', key, me, string.format('%d %d %.0f', has, demand, now + lease), '*', string.format('%.0f', now))
    redis.call('PEXPIRE', key, 3600000)
  end
  answers[at] = { has, keep, pause }
end
return { now, answers }
