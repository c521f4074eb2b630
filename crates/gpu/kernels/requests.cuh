// Requests: a tile turns what an element leaves to be done into a question, and finds or makes the request for it.

// What a tile keeps from one request to the next: space for elements, the number and the place in the list of a request
// that was not made, and how much it has made.
struct Stock {
    u64 next;
    u64 end;
    u32 number;
    u64 place;
    bool has_number;
    u32 asked;
    u64 kept;
};

const u64 DUPLICATE = ~0ull;

__device__ u32 set_of(u64 element) { return (u32)(element >> 32); }
__device__ u32 relation_of(u64 element) { return (u32)element; }

// Can the image of an element contain states that are wanted?
__device__ bool adds_something(u32 set, u32 relation, u32 minus) {
    return set != FALSE_SET && !(relation == IDENTITY && set == minus);
}

// What an element leaves to be done below `level` where the bit is `to` afterwards; written if there is a place for it.
__device__ u32 moved(const Sweep& sweep, u64 element, u32 level, u32 to, u32 minus, u64* out) {
    u32 relation = relation_of(element), count = 0;
    Halves half = halves(sweep, set_of(element), level);
    if (sweep.relation_levels[relation] != level) {
        if (!adds_something(half.of[to], relation, minus)) return 0;
        if (out) *out = (u64)half.of[to] << 32 | relation;
        return 1;
    }
    for (u32 from = 0; from < 2; from++) {
        if (half.of[from] == FALSE_SET) continue;
        u32 list = relation * 4 + 2 * from + to;
        for (u32 at = sweep.starts[list]; at < sweep.starts[list + 1]; at++) {
            u32 below = sweep.targets[at];
            if (!adds_something(half.of[from], below, minus)) continue;
            if (out) out[count] = (u64)half.of[from] << 32 | below;
            count++;
        }
    }
    return count;
}

// Space for so many elements, which stays the tile's until it takes it.
__device__ bool reserve(const Sweep& sweep, const Tile& tile, Stock& stock, u32 wanted) {
    if (stock.end - stock.next >= wanted) return true;
    u64 size = max(wanted, ELEMENT_CHUNK), start = 0;
    // Relaxed: what is handed out is written by this tile alone.
    if (tile.lane == 0) start = atomicAdd(&sweep.counters->elements, size);
    start = tile.first(start);
    if (start + size > sweep.element_limit) {
        stock.next = stock.end = 0;
        give_up(sweep, FULL_REQUESTS);
        return false;
    }
    stock.next = start;
    stock.end = start + size;
    return true;
}

// Overwrite all but the first of equal candidates.
__device__ void drop_duplicates(const Tile& tile, u64* candidates, u32 total) {
    for (u32 base = 0; base < total; base += TILE) {
        u32 at = base + tile.lane;
        bool twice = false;
        if (at < total) {
            u64 own = candidates[at];
            for (u32 other = 0; other < at && !twice; other++) twice = candidates[other] == own;
        }
        tile.sync();
        if (twice) candidates[at] = DUPLICATE;
        tile.sync();
    }
}

// A question in the making.
struct Question {
    u64 first;  // its elements, ascending, in the tile's stock
    u32 length;
    u32 minus;
    u64 hash;
};

// Does a request ask this?
__device__ bool asks(const Sweep& sweep, const Tile& tile, u32 number, const Question& question) {
    const Request& other = sweep.requests[number];
    if (other.length != question.length || other.minus != question.minus) return false;
    bool differ = false;
    for (u32 at = tile.lane; at < question.length; at += TILE) {
        differ |= sweep.elements[other.first + at] != sweep.elements[question.first + at];
    }
    return !tile.any(differ);
}

// The number of the next request that the tile makes, and its place in the next list.
__device__ bool take_number(const Sweep& sweep, const Tile& tile, Stock& stock, const Step& step) {
    if (stock.has_number) return true;
    u64 taken = 0;
    // Relaxed: who reads the list does so after a meeting.
    if (tile.lane == 0) taken = atomicAdd(&sweep.counts[step.level + 1], 1ull << 32 | 1);
    taken = tile.first(taken);
    u64 number = step.numbers + (taken >> 32);
    stock.number = (u32)number;
    stock.place = step.next_start() + (u32)taken;
    stock.has_number = number < sweep.request_limit && stock.place < sweep.list_limit;
    if (!stock.has_number) give_up(sweep, FULL_REQUESTS);
    return stock.has_number;
}

// What was taken and not used stays empty: the next step has numbers of its own.
__device__ void leave_hole(const Sweep& sweep, const Tile& tile, Stock& stock) {
    if (stock.has_number && tile.lane == 0) sweep.list[stock.place] = HOLE;
    stock.has_number = false;
}

// The request that was just made goes to the next list, with its level.
__device__ void enlist(const Sweep& sweep, const Tile& tile, Stock& stock, const Question& question) {
    u32 level = level_of_set(sweep, question.minus);
    for (u32 at = tile.lane; at < question.length; at += TILE) {
        u64 element = sweep.elements[question.first + at];
        level = min(level, min(level_of_set(sweep, set_of(element)), sweep.relation_levels[relation_of(element)]));
    }
    level = tile.least(level);
    if (tile.lane == 0) {
        sweep.requests[stock.number].level = level;
        sweep.list[stock.place] = stock.number;
    }
    stock.next += question.length;
    stock.has_number = false;
    if (tile.lane == 0) {
        stock.asked++;
        stock.kept += question.length;
    }
}

// Find the request for a question, or make it. It may be one of an earlier sweep: then it has its answer.
//
// An entry of the index is published by a releasing compare-and-swap. Whoever finds an entry that may be the wanted one
// passes a fence before looking at the request and its elements, so that the two synchronise. Entries never change
// within an epoch.
__device__ u32 ask(const Sweep& sweep, const Tile& tile, Stock& stock, const Question& question, const Step& step) {
    u64 entry = (u64)sweep.epoch << 48 | (question.hash & 0xffff) << 32;
    u64 place = in_range(question.hash, sweep.index_capacity);
    for (u32 probe = 0; probe < MOST_INDEX_PROBES; probe++) {
        u64 seen = 0;
        if (tile.lane == 0) seen = load_relaxed(&sweep.index[place]);
        seen = tile.first(seen);
        if (seen >> 48 != sweep.epoch) {
            if (!take_number(sweep, tile, stock, step)) return FALSE_SET;
            u64 found = 0;
            // The elements were written by all lanes.
            tile.sync();
            if (tile.lane == 0) {
                Request& request = sweep.requests[stock.number];
                request.first = question.first;
                request.length = question.length;
                request.minus = question.minus;
                found = swap_release(&sweep.index[place], seen, entry | stock.number);
            }
            found = tile.first(found);
            if (found == seen) {
                u32 number = stock.number;
                enlist(sweep, tile, stock, question);
                return number | REQUEST_BIT;
            }
            seen = found;
        }
        if (seen >> 32 == entry >> 32) {
            // Acquires what the other tile published; the other lanes see what the first one has acquired.
            if (tile.lane == 0) __threadfence();
            tile.sync();
            if (asks(sweep, tile, (u32)seen, question)) return (u32)seen | REQUEST_BIT;
        }
        place = place + 1 == sweep.index_capacity ? 0 : place + 1;
    }
    give_up(sweep, FULL_INDEX);
    return FALSE_SET;
}

// The answer to a question whose elements are among the candidates, if it is plain; else the request for it.
__device__ u32 settle(const Sweep& sweep, const Tile& tile, Stock& stock, u64* candidates, u32 total, u32 minus,
                      const Step& step) {
    drop_duplicates(tile, candidates, total);
    u32 length = 0, whole = 0;
    u64 hash = 0;
    for (u32 at = tile.lane; at < total; at += TILE) {
        u64 own = candidates[at];
        if (own == DUPLICATE) continue;
        u32 rank = 0;
        for (u32 other = 0; other < total; other++) rank += candidates[other] < own;
        sweep.elements[stock.next + rank] = own;
        length++;
        whole |= set_of(own) == TRUE_SET && relation_of(own) == IDENTITY;
        hash += mix(own);
    }
    length = tile.sum(length);
    hash = tile.sum(hash);
    if (minus == FALSE_SET && tile.any(whole)) return TRUE_SET;
    tile.sync();
    if (minus == FALSE_SET && length == 1 && !sweep.visit) {
        u64 only = sweep.elements[stock.next];
        if (relation_of(only) == IDENTITY) return set_of(only);
    }
    Question question = {stock.next, length, minus, mix(hash ^ (minus | (u64)length << 32) * SPREAD)};
    return ask(sweep, tile, stock, question, step);
}

// One half of a request is answered, by a set or by another request.
__device__ void answer_half(const Sweep& sweep, u32 number, u32 to, u32 answer, u32 minus) {
    sweep.requests[number].children[to] = answer;
    // An answer that is a set is either empty, or nothing is to be taken away.
    if (sweep.grow) sweep.growths[number].children[to] = answer == FALSE_SET ? minus : answer;
}
