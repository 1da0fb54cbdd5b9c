-- wrk -s report.lua URL -- METHOD [BODY-FILE [TOKEN]]: the same request again and again; prints one line of JSON at the end
local threads = {}
local seen = {}

function setup(thread)
    table.insert(threads, thread)
end

function init(args)
    wrk.method = args[1] or "GET"
    if args[2] and args[2] ~= "" then
        local file = assert(io.open(args[2], "rb"))
        wrk.body = file:read("*a")
        file:close()
        wrk.headers["Content-Type"] = "application/json"
    end
    if args[3] then
        wrk.headers["X-Agent-Simulator-Token"] = args[3]
    end
    statuses = ""
    counts = {}
end

function response(status)
    if status ~= 200 then
        counts[status] = (counts[status] or 0) + 1
        local parts = {}
        for code, count in pairs(counts) do
            parts[#parts + 1] = '"' .. code .. '": ' .. count
        end
        statuses = table.concat(parts, ", ")
    end
end

function done(summary, latency)
    local lost = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    local other = {}
    for _, thread in ipairs(threads) do
        local text = thread:get("statuses")
        if text ~= "" then
            other[#other + 1] = "{" .. text .. "}"
        end
    end
    io.write(string.format('\n{"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "lost": %d, "other": [%s]}\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, lost,
        table.concat(other, ", ")))
end
