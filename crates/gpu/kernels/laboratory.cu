// What a device can do with the table of nodes and with the index of requests, apart from sweeps.

// Read random places.
extern "C" __global__ void gather(const Node* nodes, u64 places, u64 reads, u64* sink) {
    u64 sum = 0;
    u64 threads = (u64)gridDim.x * blockDim.x;
#pragma unroll 4
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < reads; at += threads) {
        Node node = nodes[in_range(mix(at * SPREAD + 1), places)];
        sum += node.children ^ node.tag;
    }
    // Never true, but nobody knows.
    if (sum == SPREAD) *sink = sum;
}

// The node of a number; other numbers have other nodes.
__device__ u32 make_numbered(const Sweep& sweep, u64 number) {
    u64 hash = mix(number + 1);
    u32 low = (u32)hash & ~REQUEST_BIT;
    u32 high = (u32)(hash >> 32) & ~REQUEST_BIT;
    // The two bits that children have no room for.
    u32 level = (u32)(hash >> 31 & 1) | (u32)(hash >> 63) << 1;
    return make_node(sweep, low == high ? level + 4 : level, low, low == high ? high ^ 1 : high);
}

// Find or put nodes: those of the numbers from `first` on, or random ones below `range`, if that is not zero.
extern "C" __global__ void find_or_put(Sweep sweep, u64 first, u64 count, u64 range) {
    u64 threads = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += threads) {
        make_numbered(sweep, range == 0 ? first + at : in_range(mix((first + at) * SPREAD), range));
    }
}

// The question of a number: two sets without a third, which no other number has.
__device__ Short numbered_question(const Sweep& sweep, u64 number) {
    u64 hash = mix(number + 1), places = sweep.capacity - TERMINALS;
    Short question(TERMINALS + (u32)number);
    question.insert(TERMINALS + (u32)in_range(hash, places), IDENTITY);
    question.insert(TERMINALS + (u32)in_range(mix(hash), places), IDENTITY);
    return question;
}

// Look for the requests of numbers, which are told as above, and make those that are missing if that is wanted. What is
// counted as asked are the requests that were made; or else those that were found.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
    find_or_ask(const __grid_constant__ Sweep sweep, u64 first, u64 count, u64 range, u32 make) {
    const u32 lane = threadIdx.x % WARP;
    const u64 threads = (u64)gridDim.x * blockDim.x;
    // Requests and their list begin where those of earlier launches end.
    const Step step = {0, 0, sweep.first, sweep.first};
    Stock stock = {};
    // By whole warps, which make requests together.
    for (u64 base = (u64)blockIdx.x * blockDim.x + threadIdx.x - lane; base < count; base += threads) {
        u64 at = base + lane, number = range == 0 ? first + at : in_range(mix((first + at) * SPREAD), range);
        Short question = numbered_question(sweep, number);
        Seeker seeker = seeker_of(sweep, question);
        seeker.open = at < count;
        if (make) {
            find_or_make(sweep, step, lane, question, seeker, stock);
        } else {
            seek(sweep, question, seeker);
            stock.asked += seeker.answer != FALSE_SET;
        }
    }
    __syncwarp();
    count_requests(sweep, stock);
}
