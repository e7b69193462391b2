// SIGINT and SIGTERM end a long command in order: what runs is ended and what is made is put away.
#ifndef UVEA_SIM_CMD_INTERRUPT_H
#define UVEA_SIM_CMD_INTERRUPT_H

// From now on the two are only noted. One that is ignored already stays ignored. Calls that wait
// return early.
void uvea_interrupt_listen(void);

// The one that came last, or 0.
int uvea_interrupt_signal(void);

#endif
