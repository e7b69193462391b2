// What parties say to each other in the tests of the mesh, the same under every runtime.
#ifndef UVEA_TESTS_POSIX_TALK_H
#define UVEA_TESTS_POSIX_TALK_H

#include "core/net/mesh.h"
#include "core/rt/rt.h"

// One task: for every session of the mesh, values of several lengths to both neighbours, then
// theirs, then an MPC session that exchanges seeds and checks drift. False when anything is not as
// it should be.
bool talk(struct uvea_rt *rt, struct uvea_mesh *mesh, struct uvea_party party);

// One value of `bytes` bytes there and back on one session.
bool talk_once(struct uvea_mesh *mesh, struct uvea_party party, uint32_t position, size_t bytes);

#endif
