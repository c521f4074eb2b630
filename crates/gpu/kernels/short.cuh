// Requests with few elements on wide levels: a thread for each half, with the question in registers. A warp takes numbers
// and space for all its threads at once. Halves that turn out to have many elements are left to tiles.

const u32 WARP = 32;
const u32 ALL_LANES = ~0u;

// A question of at most SHORT elements, ascending, and behind them DUPLICATE.
struct Short {
    u64 elements[SHORT];
    u32 length;
    u32 minus;

    __device__ Short(u32 unwanted) : length(0), minus(unwanted) {
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) elements[at] = DUPLICATE;
    }

    // False if there is no room.
    __device__ bool insert(u32 set, u32 relation) {
        if (!adds_something(set, relation, minus)) return true;
        u64 own = (u64)set << 32 | relation;
        bool twice = false;
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) twice |= elements[at] == own;
        if (twice) return true;
        if (length == SHORT) return false;
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) {
            u64 less = min(elements[at], own);
            own = max(elements[at], own);
            elements[at] = less;
        }
        length++;
        return true;
    }

    // The same as that of a tile, so that both find the same requests.
    __device__ u64 hash() const {
        u64 sum = 0;
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) {
            if (at < length) sum += mix(elements[at]);
        }
        return mix(sum ^ (minus | (u64)length << 32) * SPREAD);
    }

    __device__ bool has_whole() const {
        bool whole = false;
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) whole |= elements[at] == ((u64)TRUE_SET << 32 | IDENTITY);
        return whole;
    }

    __device__ u32 level(const Sweep& sweep) const {
        u32 level = level_of_set(sweep, minus);
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) {
            if (at < length) {
                level = min(level, level_of_set(sweep, set_of(elements[at])));
                level = min(level, sweep.relation_levels[relation_of(elements[at])]);
            }
        }
        return level;
    }

    __device__ void write(u64* out) const {
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) {
            if (at < length) out[at] = elements[at];
        }
    }

    __device__ bool is_asked_by(const Sweep& sweep, u32 number) const {
        const Request& other = sweep.requests[number];
        if (other.length != length || other.minus != minus) return false;
        const u64* others = sweep.elements + other.first;
        bool differ = false;
#pragma unroll
        for (u32 at = 0; at < SHORT; at++) {
            if (at < length) differ |= others[at] != elements[at];
        }
        return !differ;
    }
};

// What the elements of a request leave to be done where the bit is `to` afterwards; false if that is too much.
__device__ bool collect(const Sweep& sweep, const Request& request, u32 level, u32 to, Short& question) {
    if (request.length > SHORT) return false;
    for (u32 at = 0; at < request.length; at++) {
        u64 element = sweep.elements[request.first + at];
        u32 relation = relation_of(element);
        Halves half = halves(sweep, set_of(element), level);
        if (sweep.relation_levels[relation] != level) {
            if (!question.insert(half.of[to], relation)) return false;
            continue;
        }
        for (u32 from = 0; from < 2; from++) {
            if (half.of[from] == FALSE_SET) continue;
            u32 list = relation * 4 + 2 * from + to;
            for (u32 next = sweep.starts[list]; next < sweep.starts[list + 1]; next++) {
                if (!question.insert(half.of[from], sweep.targets[next])) return false;
            }
        }
    }
    return true;
}

// Is the answer to a question plain?
__device__ bool is_plain(const Sweep& sweep, const Short& question, u32& answer) {
    answer = FALSE_SET;
    if (question.length == 0) return true;
    if (question.minus != FALSE_SET) return false;
    if (question.has_whole()) {
        answer = TRUE_SET;
        return true;
    }
    answer = set_of(question.elements[0]);
    return question.length == 1 && relation_of(question.elements[0]) == IDENTITY && !sweep.visit;
}

// A thread that looks for the request of its question.
struct Seeker {
    bool open;   // still looking
    u64 place;   // in the index
    u64 seen;    // there
    u64 entry;   // to be put there, without a number
    u32 probes;
    u32 answer;
};

// Looking begins where the question's hash tells.
__device__ Seeker seeker_of(const Sweep& sweep, const Short& question) {
    u64 hash = question.hash(), entry = (u64)sweep.epoch << 48 | (hash & 0xffff) << 32;
    return {true, in_range(hash, sweep.index_capacity), 0, entry, 0, FALSE_SET};
}

// Go on until the request is found, or a place for it. The same protocol as `ask` in requests.cuh.
__device__ void seek(const Sweep& sweep, const Short& question, Seeker& seeker) {
    while (seeker.open) {
        seeker.seen = load_relaxed(&sweep.index[seeker.place]);
        if (seeker.seen >> 48 != sweep.epoch) return;
        if (seeker.seen >> 32 == seeker.entry >> 32) {
            // Acquires what the other thread published.
            __threadfence();
            if (question.is_asked_by(sweep, (u32)seeker.seen)) {
                seeker.answer = (u32)seeker.seen | REQUEST_BIT;
                seeker.open = false;
                return;
            }
        }
        seeker.place = seeker.place + 1 == sweep.index_capacity ? 0 : seeker.place + 1;
        if (++seeker.probes == MOST_INDEX_PROBES) {
            give_up(sweep, FULL_INDEX);
            seeker.open = false;
        }
    }
}

// The sum of the values of all lanes before this one.
__device__ u32 sum_before(u32 lane, u32 value) {
    u32 sum = value;
    for (u32 distance = 1; distance < WARP; distance *= 2) {
        u32 other = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane >= distance) sum += other;
    }
    return sum - value;
}

// Make requests for all threads of the warp that have found none. Somebody else may be faster: then the thread seeks on.
__device__ void make_requests(const Sweep& sweep, const Step& step, u32 lane, const Short& question, Seeker& seeker,
                              Stock& stock) {
    u32 makers = __ballot_sync(ALL_LANES, seeker.open), count = __popc(makers);
    u32 length = seeker.open ? question.length : 0, before = sum_before(lane, length);
    u32 total = __shfl_sync(ALL_LANES, before + length, WARP - 1);
    u64 taken = 0, first = 0;
    if (lane == 0) {
        // Relaxed: what is handed out is written by this warp alone; who reads the list does so after a meeting.
        taken = atomicAdd(&sweep.counts[step.level + 1], (1ull << 32 | 1) * count);
        first = atomicAdd(&sweep.counters->elements, (u64)total);
    }
    u32 rank = __popc(makers & ((1u << lane) - 1));
    taken = __shfl_sync(ALL_LANES, taken, 0);
    first = __shfl_sync(ALL_LANES, first, 0);
    u64 number = step.numbers + (taken >> 32) + rank, place = step.next_start() + (u32)taken + rank;
    if (!seeker.open) return;
    if (number >= sweep.request_limit || place >= sweep.list_limit || first + total > sweep.element_limit) {
        give_up(sweep, FULL_REQUESTS);
        seeker.open = false;
        return;
    }
    Request& request = sweep.requests[number];
    question.write(sweep.elements + first + before);
    request.first = first + before;
    request.length = question.length;
    request.minus = question.minus;
    if (swap_release(&sweep.index[seeker.place], seeker.seen, seeker.entry | number) == seeker.seen) {
        request.level = question.level(sweep);
        sweep.list[place] = (u32)number;
        seeker.answer = (u32)number | REQUEST_BIT;
        seeker.open = false;
        stock.asked++;
        stock.kept += question.length;
    } else {
        sweep.list[place] = HOLE;
    }
}

// Find or make the requests of all threads of a warp that look for one.
__device__ void find_or_make(const Sweep& sweep, const Step& step, u32 lane, const Short& question, Seeker& seeker,
                             Stock& stock) {
    __syncwarp();
    while (true) {
        seek(sweep, question, seeker);
        if (!__any_sync(ALL_LANES, seeker.open)) break;
        make_requests(sweep, step, lane, question, seeker, stock);
        __syncwarp();
    }
}

// Requests that are not of this level wait in the next list.
__device__ void pass_all_on(const Sweep& sweep, const Step& step, u32 lane, bool waits, u32 number) {
    u32 waiting = __ballot_sync(ALL_LANES, waits);
    if (waiting == 0) return;
    u64 taken = 0;
    // Relaxed: who reads the list does so after a meeting.
    if (lane == 0) taken = atomicAdd(&sweep.counts[step.level + 1], (u64)__popc(waiting));
    u64 at = step.next_start() + (u32)__shfl_sync(ALL_LANES, taken, 0) + __popc(waiting & ((1u << lane) - 1));
    if (!waits) return;
    if (at < sweep.list_limit) {
        sweep.list[at] = number;
    } else {
        give_up(sweep, FULL_REQUESTS);
    }
}

// One half of a request for each thread of a warp. Returns whether it is left to a tile.
__device__ bool split_short(const Sweep& sweep, const Step& step, u32 lane, u32 number, u32 to, bool is_own, Stock& stock) {
    Seeker seeker = {};
    u32 minus = FALSE_SET;
    bool is_long = false;
    if (is_own) minus = halves(sweep, sweep.requests[number].minus, step.level).of[to];
    Short question(minus);
    if (is_own && minus != TRUE_SET) {
        is_long = !collect(sweep, sweep.requests[number], step.level, to, question);
        if (!is_long && !is_plain(sweep, question, seeker.answer)) seeker = seeker_of(sweep, question);
    }
    find_or_make(sweep, step, lane, question, seeker, stock);
    if (is_own && !is_long) answer_half(sweep, number, to, seeker.answer, minus);
    return is_long;
}
