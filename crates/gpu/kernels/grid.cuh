// Threads together: all blocks, and tiles of a warp.

// Relaxed: a flag or a counter whose value alone counts.
__device__ u32 load_relaxed(const u32* word) {
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ u32 load_acquire(const u32* word) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ u64 load_relaxed(const u64* word) {
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

// Publishes what the thread wrote and has seen, if the word is as expected; what it was is returned.
__device__ u64 swap_release(u64* word, u64 expected, u64 wanted) {
    u64 seen;
    asm volatile("atom.release.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(seen)
                 : "l"(word), "l"(expected), "l"(wanted)
                 : "memory");
    return seen;
}

// All blocks meet; what any thread wrote before, all threads see afterwards. The launch is cooperative, so all blocks
// run. The counter only grows: the target of a meeting is the next multiple of the number of blocks.
__device__ void meet(Counters* counters) {
    __syncthreads();
    if (threadIdx.x == 0) {
        // Releases what the block wrote (ordered before by the barrier of the block), for the acquire of the others.
        __threadfence();
        // Relaxed: the fences around it order.
        u32 ticket = atomicAdd(&counters->arrived, 1);
        u32 target = (ticket / gridDim.x + 1) * gridDim.x;
        while (load_acquire(&counters->arrived) < target) {
        }
        __threadfence();
    }
    __syncthreads();
}

// TILE neighbouring threads of a warp, which work on one request.
struct Tile {
    u32 lane;
    u32 mask;

    __device__ Tile() {
        lane = threadIdx.x % TILE;
        u32 ones = TILE == 32 ? ~0u : (1u << (TILE % 32)) - 1;
        mask = ones << (threadIdx.x % 32 / TILE * TILE);
    }

    // Orders memory accesses of the tile, too.
    __device__ void sync() const { __syncwarp(mask); }

    template <typename T>
    __device__ T first(T value) const {
        return __shfl_sync(mask, value, 0, TILE);
    }

    template <typename T>
    __device__ T sum(T value) const {
        for (u32 distance = TILE / 2; distance > 0; distance /= 2) {
            value += __shfl_xor_sync(mask, value, distance, TILE);
        }
        return value;
    }

    __device__ u32 least(u32 value) const {
        for (u32 distance = TILE / 2; distance > 0; distance /= 2) {
            value = min(value, __shfl_xor_sync(mask, value, distance, TILE));
        }
        return value;
    }

    __device__ bool any(bool value) const { return __any_sync(mask, value); }

    // The sum of the values of all lanes before this one.
    __device__ u32 before(u32 value) const {
        u32 sum = value;
        for (u32 distance = 1; distance < TILE; distance *= 2) {
            u32 other = __shfl_up_sync(mask, sum, distance, TILE);
            if (lane >= distance) sum += other;
        }
        return sum - value;
    }
};

// The next number, for each of the threads of a warp that happen to be here together: one atomic for all.
__device__ u32 take_one(u32* counter) {
    u32 here = __activemask(), lane = threadIdx.x % 32, first = __ffs(here) - 1, taken = 0;
    // Relaxed: a count.
    if (lane == first) taken = atomicAdd(counter, __popc(here));
    return __shfl_sync(here, taken, first) + __popc(here & ((1u << lane) - 1));
}

// A permutation of words, as in layout.rs of crates/bulk.
__device__ u64 mix(u64 word) {
    word = (word ^ (word >> 33)) * FACTOR_0;
    word = (word ^ (word >> 33)) * FACTOR_1;
    return word ^ (word >> 33);
}

// A hash as one of so many places.
__device__ u64 in_range(u64 hash, u64 places) { return __umul64hi(hash, places); }

// There is no room for something: all threads stop working, and go on meeting until the sweep is over. Relaxed: whoever
// sees it late has complete lists to work on until the next meeting, after which everybody sees it. The host may set it,
// too, to stop the sweep; whoever stops working because of that has seen it before the next meeting.
__device__ void give_up(const Sweep& sweep, u32 what) { atomicOr(&sweep.counters->full, what); }

__device__ bool is_given_up(const Sweep& sweep) { return load_relaxed(&sweep.counters->full) != 0; }
