// What a device can do with the table of nodes, apart from sweeps.

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
