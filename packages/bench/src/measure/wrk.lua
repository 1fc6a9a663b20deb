-- Sends `tools/call` as fast as the connections allow. The file in args[1] holds parts with a record separator between them:
-- the text every answer must contain, then head and tail of one request per session; the id goes in between, always nine digits.
-- Sessions take turns, so that with as many sessions as connections each has about one call under way.
-- args[2] = "check": every answer is looked at (slower, so only for the warm-up).
local threads = {}
local heads, tails, needle, n = {}, {}, nil, 0
local id = 100000000
wrong = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  local text = file:read('*a')
  file:close()
  local parts = {}
  for part in string.gmatch(text, '([^\30]*)\30') do table.insert(parts, part) end
  needle = parts[1]
  for i = 2, #parts, 2 do
    table.insert(heads, parts[i])
    table.insert(tails, parts[i + 1])
  end
  n = #heads
  if args[2] == 'check' then
    response = function(status, headers, body)
      if status ~= 200 or not string.find(body, needle, 1, true) then wrong = wrong + 1 end
    end
  end
end

function request()
  id = id + 1
  local i = id % n + 1
  return heads[i] .. id .. tails[i]
end

function done(summary, latency, requests)
  local bad = 0
  for _, thread in ipairs(threads) do bad = bad + thread:get('wrong') end
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"calls":%d,"seconds":%.6f,"p50Ms":%.4f,"p99Ms":%.4f,"errors":%d,"wrong":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    e.connect + e.read + e.write + e.status + e.timeout, bad))
end
