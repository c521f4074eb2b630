// One sweep: down the levels to ask, up again to answer, in one launch. See docs/gpu.md.

// One half of a request: where the bit of its level is `to`.
__device__ void split(const Sweep& sweep, const Tile& tile, Stock& stock, u64* buffer, u32 number, u32 level, u32 to,
                      u64 next_start) {
    Request& request = sweep.requests[number];
    u64 first = request.first;
    u32 length = request.length, minus = halves(sweep, request.minus, level).of[to], own = 0;
    if (minus != TRUE_SET) {
        for (u32 at = tile.lane; at < length; at += TILE) {
            own += moved(sweep, sweep.elements[first + at], level, to, minus, nullptr);
        }
    }
    u32 total = tile.sum(own), answer = FALSE_SET;
    if (total > 0) {
        // Candidates that are too many for the buffer go behind the space for the question itself.
        bool fits = total <= BUFFER;
        if (!reserve(sweep, tile, stock, fits ? total : 2 * total)) return;
        u64* candidates = fits ? buffer : sweep.elements + stock.next + total;
        u64* out = candidates + tile.before(own);
        for (u32 at = tile.lane; at < length; at += TILE) {
            out += moved(sweep, sweep.elements[first + at], level, to, minus, out);
        }
        tile.sync();
        answer = settle(sweep, tile, stock, candidates, total, minus, level + 1, next_start);
        tile.sync();
    }
    if (tile.lane == 0) {
        request.children[to] = answer;
        // An answer that is a set is either empty, or nothing is to be taken away.
        if (sweep.grow) sweep.growths[number].children[to] = answer == FALSE_SET ? minus : answer;
    }
}

// A request that is not of this level waits in the next list.
__device__ void pass_on(const Sweep& sweep, const Tile& tile, u32 number, u32 level, u64 next_start) {
    if (tile.lane != 0) return;
    u64 at = next_start + atomicAdd(&sweep.counts[level + 1], 1);
    if (at < sweep.list_limit) {
        sweep.list[at] = number;
    } else {
        give_up(sweep, FULL_REQUESTS);
    }
}

// The requests of a level, by some of all tiles; each half of a request is for a tile of its own.
__device__ void expand_level(const Sweep& sweep, const Tile& tile, Stock& stock, u64* buffer, u32 level, u64 start,
                             u32 count, u32 own, u32 tiles) {
    for (u64 half = own; half < 2ull * count; half += tiles) {
        u64 at = half / 2;
        // Not to be looked at if it was given up: lists are incomplete then.
        u32 number = sweep.list[start + at], stop = 0;
        if (tile.lane == 0) stop = is_given_up(sweep);
        if (tile.first(stop)) return;
        if (sweep.requests[number].level == level) {
            split(sweep, tile, stock, buffer, number, level, half % 2, start + count);
        } else if (half % 2 == 0) {
            pass_on(sweep, tile, number, level, start + count);
        }
    }
}

// Down the levels. Runs of narrow levels are for the first block alone, which needs no meeting of all blocks for them.
__device__ void expand(const Sweep& sweep, u64* buffer, u32& level, u64& start) {
    Tile tile;
    Stock stock = {};
    const u32 block_tiles = blockDim.x / TILE, own = threadIdx.x / TILE;
    level = 0;
    start = 0;
    while (level < sweep.levels) {
        u32 count = load_relaxed(&sweep.counts[level]);
        if (count == 0) break;
        if (count > NARROW_DOWN) {
            expand_level(sweep, tile, stock, buffer, level, start, count, blockIdx.x * block_tiles + own,
                         gridDim.x * block_tiles);
            start += count;
            level++;
        } else if (blockIdx.x == 0) {
            while (level < sweep.levels && count > 0 && count <= NARROW_DOWN) {
                expand_level(sweep, tile, stock, buffer, level, start, count, own, block_tiles);
                start += count;
                level++;
                __syncthreads();
                count = load_relaxed(&sweep.counts[level]);
            }
            if (threadIdx.x == 0) {
                sweep.counters->level = level;
                sweep.counters->start = start;
            }
        }
        bool narrow = count <= NARROW_DOWN;
        meet(sweep.counters);
        if (blockIdx.x != 0 && narrow) {
            level = load_relaxed(&sweep.counters->level);
            start = *(volatile u64*)&sweep.counters->start;
        }
    }
    if (tile.lane == 0 && stock.asked > 0) {
        // Relaxed: read by the host, after the launch.
        atomicAdd(&sweep.counters->asked, stock.asked);
        atomicAdd(&sweep.counters->kept, stock.kept);
    }
}

__device__ u32 resolve(const Sweep& sweep, u32 answer) {
    return answer & REQUEST_BIT ? sweep.requests[answer & ~REQUEST_BIT].result : answer;
}

// The same for what grows; `answer` is used if the request's own answer is a set.
__device__ u32 resolve_growth(const Sweep& sweep, u32 own, u32 answer) {
    return own & REQUEST_BIT ? sweep.growths[own & ~REQUEST_BIT].result : answer;
}

// The nodes of a level, by some of all threads.
__device__ void reduce_level(const Sweep& sweep, u32 level, u64 start, u32 count, u32 own, u32 threads) {
    for (u32 at = own; at < count; at += threads) {
        u32 number = sweep.list[start + at];
        if (is_given_up(sweep)) return;
        Request& request = sweep.requests[number];
        if (request.level != level) continue;
        u32 low = resolve(sweep, request.children[0]), high = resolve(sweep, request.children[1]);
        request.result = make_node(sweep, level, low, high);
        if (sweep.grow) {
            Growth& growth = sweep.growths[number];
            u32 grown_low = resolve_growth(sweep, request.children[0], growth.children[0]);
            u32 grown_high = resolve_growth(sweep, request.children[1], growth.children[1]);
            growth.result = make_node(sweep, level, grown_low, grown_high);
        }
    }
}

// Up the levels, from the one whose list is empty or beyond the last.
__device__ void reduce(const Sweep& sweep, u32 level, u64 start) {
    while (level > 0) {
        u32 count = sweep.counts[level - 1];
        if (count > NARROW_UP) {
            level--;
            start -= count;
            reduce_level(sweep, level, start, count, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
        } else {
            while (level > 0 && (count = sweep.counts[level - 1]) <= NARROW_UP) {
                level--;
                start -= count;
                if (blockIdx.x == 0) {
                    reduce_level(sweep, level, start, count, threadIdx.x, blockDim.x);
                    __syncthreads();
                }
            }
        }
        meet(sweep.counters);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) sweep(const __grid_constant__ Sweep sweep) {
    __shared__ u64 buffers[BLOCK / TILE * BUFFER];
    u32 level;
    u64 start;
    expand(sweep, buffers + threadIdx.x / TILE * BUFFER, level, start);
    if (sweep.reduce) reduce(sweep, level, start);
}
