// What host and device share. Constants in capitals that are not defined here come from the host (src/program.rs),
// so that bits have one definition; structures mirror those of src/memory.rs.

typedef unsigned int u32;
typedef unsigned long long u64;

const u32 FALSE_SET = 0;
const u32 TRUE_SET = 1;

// A node, or an empty place of a table: all zeros. Neither word of a node is zero.
struct alignas(16) Node {
    u64 children;
    u64 tag;  // one more than the level
};

// A request. Its elements ascend and are all different.
struct alignas(16) Request {
    u64 first;  // where its elements begin
    u32 length;
    u32 minus;
    u32 level;
    u32 children[2];  // sets, or requests with REQUEST_BIT
    u32 result;
};

// The same for what grows: the union of a request together with what is not wanted.
struct alignas(16) Growth {
    u32 children[2];  // used where the request's are sets
    u32 result;
    u32 unused;
};

// What all threads count together; all zeros before a sweep.
struct Counters {
    u64 elements;  // handed out
    u64 start;     // where the list of `level` begins
    u64 asked;     // requests that were made
    u64 kept;      // elements of requests that were made
    u32 numbers;   // of requests, taken before `level`; in the end, all that are taken
    u32 made;      // nodes that were put into the table
    u32 level;     // where a run of narrow levels has ended
    u32 full;      // what there was no room for, or that the host wants the sweep to stop
    u32 arrived;   // blocks at barriers
};

// A sweep: everything it reads and writes.
struct Sweep {
    const Node* nodes;
    u64 capacity;
    Node* into;  // where new nodes go: the same table, or another one when sets are copied
    u64 into_capacity;
    const u32* relation_levels;
    const u32* starts;
    const u32* targets;
    u64* elements;
    u64 element_limit;
    Request* requests;
    Growth* growths;  // of the same number
    u64 request_limit;
    u64* index;
    u64 index_capacity;
    u32* list;  // requests by level, one list after the other
    u64 list_limit;
    u64* counts;  // lengths of the lists, and in the upper half how many requests in them are new
    Counters* counters;
    u64 room;  // nodes that may be put into the table
    u32 levels;
    u32 epoch;   // entries of the index with another one are empty
    u32 visit;   // look into sets that could be taken as they are
    u32 reduce;  // make nodes
    u32 grow;    // answer twice: without what is not wanted, and together with it
    u32 roots;   // requests that are there from the start
    u32 first;   // number of the first of them; those before it were answered by earlier sweeps
    u32 wide;    // requests of a level that are many enough for a thread each
    u32 fuse;    // narrow levels are for one block alone
};

// The host writes and reads these as bytes.
static_assert(sizeof(Node) == SIZE_OF_NODE, "Place in src/memory.rs");
static_assert(sizeof(Request) == SIZE_OF_REQUEST, "Request in src/memory.rs");
static_assert(sizeof(Growth) == SIZE_OF_GROWTH, "Growth in src/memory.rs");
static_assert(sizeof(Counters) == SIZE_OF_COUNTERS, "Counters in src/memory.rs");
static_assert(sizeof(Sweep) == SIZE_OF_SWEEP, "SweepArguments in src/memory.rs");

// A level on the way down.
struct Step {
    u32 level;
    u32 count;    // requests in its list
    u64 start;    // where the list begins
    u32 numbers;  // of requests, taken before

    __device__ u64 next_start() const { return start + count; }
};
