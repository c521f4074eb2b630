// The part of Sylvan's interface that the benchmark uses, as plain functions.
// All but queens_sylvan_run are called from within a task of the one worker.

#include <stdbool.h>
#include <stdint.h>

#include <sylvan.h>

// At most 1 GB of tables, twice as many nodes as cache entries; both start
// 16 times smaller and grow at garbage collections.
enum { MEMORY = 1 << 30, TABLE_RATIO = 1, INITIAL_RATIO = 4 };

// Sylvan's own n-queens example consults the cache at every third level.
enum { GRANULARITY = 3 };

typedef void (*queens_job)(void *data);

VOID_TASK_2(perform, queens_job, job, void *, data) { job(data); }

void queens_sylvan_run(queens_job job, void *data) {
    lace_start(1, 0);
    sylvan_set_limits(MEMORY, TABLE_RATIO, INITIAL_RATIO);
    sylvan_init_package();
    sylvan_set_granularity(GRANULARITY);
    sylvan_init_bdd();
    RUN(perform, job, data);
    sylvan_quit();
    lace_stop();
}

uint64_t queens_sylvan_literal(uint32_t variable, bool positive) {
    return sylvan_ref(positive ? sylvan_ithvar(variable) : sylvan_nithvar(variable));
}

uint64_t queens_sylvan_and(uint64_t left, uint64_t right) {
    return sylvan_ref(sylvan_and(left, right));
}

uint64_t queens_sylvan_or(uint64_t left, uint64_t right) {
    return sylvan_ref(sylvan_or(left, right));
}

double queens_sylvan_count(uint64_t node, uint32_t variables) {
    BDDSET set = sylvan_set_empty();
    bdd_refs_pushptr(&set);
    for (uint32_t variable = variables; variable-- > 0;) {
        set = sylvan_set_add(set, variable);
    }
    double count = sylvan_satcount(node, set);
    bdd_refs_popptr(1);
    return count;
}

void queens_sylvan_deref(uint64_t node) { sylvan_deref(node); }
