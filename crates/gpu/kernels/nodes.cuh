// The table of nodes: open addressing with linear probing; the place of a node is its name.
//
// A place changes once in the life of a table, from zeros to a node, by one compare-and-swap of sixteen bytes. So
// nobody waits for anybody, and a node that is found is complete. A plain read may see one word of a node before the
// other one; since neither word of a node is zero, a zero word means that the place must be asked by compare-and-swap.

__device__ Node load_node(const Node* place) {
    Node node;
    // Relaxed, word by word: see above.
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(node.children), "=l"(node.tag)
                 : "l"(place)
                 : "memory");
    return node;
}

// Put a node into an empty place; what was there before is returned. Relaxed: the node itself is all that is published,
// and its children were published before the last meeting.
__device__ Node swap_node(Node* place, Node node) {
    Node seen;
    asm volatile(
        "{\n"
        ".reg .b128 empty, wanted, seen;\n"
        "mov.b128 empty, {%4, %4};\n"
        "mov.b128 wanted, {%2, %3};\n"
        "atom.relaxed.gpu.global.cas.b128 seen, [%5], empty, wanted;\n"
        "mov.b128 {%0, %1}, seen;\n"
        "}"
        : "=l"(seen.children), "=l"(seen.tag)
        : "l"(node.children), "l"(node.tag), "l"(0ull), "l"(place)
        : "memory");
    return seen;
}

// The set with these halves at a level.
__device__ u32 make_node(const Sweep& sweep, u32 level, u32 low, u32 high) {
    if (low == high) return low;
    Node node = {low | (u64)high << 32, (u64)level + 1};
    u64 place = in_range(mix(node.children ^ node.tag * SPREAD), sweep.into_capacity - TERMINALS) + TERMINALS;
    for (u32 probe = 0; probe < MOST_NODE_PROBES; probe++) {
        Node seen = load_node(&sweep.into[place]);
        if (seen.children == 0 || seen.tag == 0) {
            seen = swap_node(&sweep.into[place], node);
            if (seen.tag == 0) {
                if (take_one(&sweep.counters->made) >= sweep.room) give_up(sweep, FULL_NODES);
                return (u32)place;
            }
        }
        if (seen.children == node.children && seen.tag == node.tag) return (u32)place;
        place = place + 1 == sweep.into_capacity ? TERMINALS : place + 1;
    }
    give_up(sweep, FULL_NODES);
    return FALSE_SET;
}

__device__ u32 level_of_set(const Sweep& sweep, u32 set) {
    return set < TERMINALS ? BOTTOM : (u32)(sweep.nodes[set].tag - 1);
}

// What becomes of a set when the bit at a level, which is not below the set's, is 0 and 1.
struct Halves {
    u32 of[2];
};

__device__ Halves halves(const Sweep& sweep, u32 set, u32 level) {
    if (set < TERMINALS) return {{set, set}};
    Node node = sweep.nodes[set];
    if (node.tag != (u64)level + 1) return {{set, set}};
    return {{(u32)node.children, (u32)(node.children >> 32)}};
}
