// One sweep: down the levels to ask, up again to answer, in one launch. See docs/gpu.md.

// One half of a request: where the bit of its level is `to`.
__device__ void split(const Sweep& sweep, const Tile& tile, Stock& stock, u64* buffer, const Step& step,
                      u32 number, u32 to) {
    Request& request = sweep.requests[number];
    const u32 level = step.level;
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
        answer = settle(sweep, tile, stock, candidates, total, minus, step);
        tile.sync();
    }
    if (tile.lane == 0) answer_half(sweep, number, to, answer, minus);
}

// A request that is not of this level waits in the next list.
__device__ void pass_on(const Sweep& sweep, const Tile& tile, const Step& step, u32 number) {
    if (tile.lane != 0) return;
    // Relaxed: who reads the list does so after a meeting.
    u64 at = step.next_start() + (u32)atomicAdd(&sweep.counts[step.level + 1], 1ull);
    if (at < sweep.list_limit) {
        sweep.list[at] = number;
    } else {
        give_up(sweep, FULL_REQUESTS);
    }
}

// The requests of a level, by some of all tiles; each half of a request is for a tile of its own.
__device__ void expand_level(const Sweep& sweep, const Tile& tile, Stock& stock, u64* buffer, const Step& step, u32 own,
                             u32 tiles) {
    for (u64 half = own; half < 2ull * step.count; half += tiles) {
        // Asked before the list is read: if it was given up, that may be shorter than the counts tell.
        u32 stop = 0;
        if (tile.lane == 0) stop = is_given_up(sweep);
        if (tile.first(stop)) return;
        u32 number = sweep.list[step.start + half / 2];
        if (number == HOLE) continue;
        if (sweep.requests[number].level == step.level) {
            split(sweep, tile, stock, buffer, step, number, half % 2);
        } else if (half % 2 == 0) {
            pass_on(sweep, tile, step, number);
        }
    }
    leave_hole(sweep, tile, stock);
}

// The same on a wide level, by some of all warps: short halves are for one thread each, long ones for the tile around it.
__device__ void expand_wide_level(const Sweep& sweep, const Tile& tile, Stock& stock, u64* buffer, const Step& step,
                                  u32 own, u32 warps) {
    const u32 lane = threadIdx.x % WARP;
    const u64 halves = 2ull * step.count;
    for (u64 base = (u64)own * WARP; base < halves; base += (u64)warps * WARP) {
        u32 stop = 0;
        if (lane == 0) stop = is_given_up(sweep);
        if (__shfl_sync(ALL_LANES, stop, 0)) return;
        u64 half = base + lane;
        u32 number = half < halves ? sweep.list[step.start + half / 2] : HOLE, to = half % 2;
        bool is_here = number != HOLE, is_own = is_here && sweep.requests[number].level == step.level;
        pass_all_on(sweep, step, lane, is_here && !is_own && to == 0, number);
        bool is_long = split_short(sweep, step, lane, number, to, is_own, stock);
        for (u32 left = __ballot_sync(ALL_LANES, is_long) & tile.mask; left != 0; left &= left - 1) {
            u32 from = __ffs(left) - 1;
            u32 whose = __shfl_sync(tile.mask, number, from), which = __shfl_sync(tile.mask, to, from);
            split(sweep, tile, stock, buffer, step, whose, which);
        }
        __syncwarp();
    }
    leave_hole(sweep, tile, stock);
}

// The step after this one, which is over.
__device__ Step next_step(const Sweep& sweep, const Step& step) {
    u64 counts = load_relaxed(&sweep.counts[step.level + 1]);
    return {step.level + 1, (u32)counts, step.next_start(), step.numbers + (u32)(counts >> 32)};
}

// Are there so few requests that one block does better without the others?
__device__ bool is_narrow(const Sweep& sweep, const Step& step) {
    return sweep.fuse && step.count <= NARROW_DOWN && step.count < sweep.wide;
}

// Tell the host what was made. Threads of a tile make what its first one counts, or each its own.
__device__ void count_requests(const Sweep& sweep, const Stock& stock) {
    u64 asked = stock.asked, kept = stock.kept;
    for (u32 distance = WARP / 2; distance > 0; distance /= 2) {
        asked += __shfl_xor_sync(ALL_LANES, asked, distance);
        kept += __shfl_xor_sync(ALL_LANES, kept, distance);
    }
    if (threadIdx.x % WARP == 0 && asked > 0) {
        // Relaxed: read by the host, after the launch.
        atomicAdd(&sweep.counters->asked, asked);
        atomicAdd(&sweep.counters->kept, kept);
    }
}

// Down the levels, until a list is empty. Runs of narrow levels are for the first block alone, which needs no meeting
// of all blocks for them.
__device__ Step expand(const Sweep& sweep, u64* buffer) {
    Tile tile;
    Stock stock = {};
    const u32 block_tiles = blockDim.x / TILE, own = threadIdx.x / TILE;
    Step step = {0, sweep.roots, 0, sweep.first + sweep.roots};
    while (step.level < sweep.levels && step.count > 0) {
        bool narrow = is_narrow(sweep, step);
        if (step.count >= sweep.wide) {
            const u32 block_warps = blockDim.x / WARP;
            expand_wide_level(sweep, tile, stock, buffer, step, blockIdx.x * block_warps + threadIdx.x / WARP,
                              gridDim.x * block_warps);
        } else if (!narrow) {
            expand_level(sweep, tile, stock, buffer, step, blockIdx.x * block_tiles + own, gridDim.x * block_tiles);
        } else if (blockIdx.x == 0) {
            while (step.level < sweep.levels && step.count > 0 && is_narrow(sweep, step)) {
                expand_level(sweep, tile, stock, buffer, step, own, block_tiles);
                __syncthreads();
                step = next_step(sweep, step);
            }
            if (threadIdx.x == 0) {
                sweep.counters->level = step.level;
                sweep.counters->start = step.start;
                sweep.counters->numbers = step.numbers;
            }
        }
        meet(sweep.counters);
        if (!narrow) {
            step = next_step(sweep, step);
        } else if (blockIdx.x != 0) {
            // Not changed before the next meeting.
            step = {load_relaxed(&sweep.counters->level), 0, load_relaxed(&sweep.counters->start),
                    load_relaxed(&sweep.counters->numbers)};
            step.count = (u32)load_relaxed(&sweep.counts[step.level]);
        }
    }
    count_requests(sweep, stock);
    return step;
}

__device__ u32 resolve(const Sweep& sweep, u32 answer) {
    return answer & REQUEST_BIT ? sweep.requests[answer & ~REQUEST_BIT].result : answer;
}

// The same for what grows; `answer` is used if the request's own answer is a set.
__device__ u32 resolve_growth(const Sweep& sweep, u32 own, u32 answer) {
    return own & REQUEST_BIT ? sweep.growths[own & ~REQUEST_BIT].result : answer;
}

// The nodes of a level, by some of all threads; if there are two answers to a request, each is for a thread of its own.
__device__ void reduce_level(const Sweep& sweep, u32 level, u64 start, u32 count, u32 own, u32 threads) {
    u32 answers = sweep.grow ? 2 : 1;
    for (u64 at = own; at < (u64)count * answers; at += threads) {
        // Asked first, as on the way down.
        if (is_given_up(sweep)) return;
        u32 number = sweep.list[start + at / answers];
        if (number == HOLE || sweep.requests[number].level != level) continue;
        Request& request = sweep.requests[number];
        if (at % answers == 0) {
            u32 low = resolve(sweep, request.children[0]), high = resolve(sweep, request.children[1]);
            request.result = make_node(sweep, level, low, high);
        } else {
            Growth& growth = sweep.growths[number];
            u32 low = resolve_growth(sweep, request.children[0], growth.children[0]);
            u32 high = resolve_growth(sweep, request.children[1], growth.children[1]);
            growth.result = make_node(sweep, level, low, high);
        }
    }
}

// Up the levels, from behind the last list.
__device__ void reduce(const Sweep& sweep, u32 level, u64 start) {
    while (level > 0) {
        u32 count = (u32)sweep.counts[level - 1];
        if (count > NARROW_UP || !sweep.fuse) {
            level--;
            start -= count;
            reduce_level(sweep, level, start, count, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
        } else {
            while (level > 0 && (count = (u32)sweep.counts[level - 1]) <= NARROW_UP) {
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
    Step end = expand(sweep, buffers + threadIdx.x / TILE * BUFFER);
    // Whoever still reads it, after a run of narrow levels, reads the same.
    if (blockIdx.x == 0 && threadIdx.x == 0) sweep.counters->numbers = end.numbers;
    if (sweep.reduce) reduce(sweep, end.level, end.start);
}
