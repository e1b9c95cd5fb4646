/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_defs.h - every run-time setting, once.
 *
 * CONFIG(name, type, default, "what it does, with its unit")
 * becomes the field ski_config.name, the variable SKUA_NAME, a line of
 * `skua info --config`, an entry of skua-environment(7), and a candidate when
 * the start-up check suggests a name for a misspelt variable.
 * The types are those of config.h.
 */
/* clang-format off */
CONFIG(agent_path,    text,    "auto",  "Where skuarun is on the other hosts of a job; auto is where it is here.")
CONFIG(arena_address, address, "auto",  "Where every process of the job maps the arena (hexadecimal); auto tries a few free places.")
CONFIG(arena_keep,    autobytes, "auto",  "Memory of freed blocks that stays with the arena for reuse; what is beyond goes back to the system. auto: 64m, and more once the program takes again what went back, up to a quarter of the host's memory.")
CONFIG(arena_size,    autobytes, "auto",  "Address range of the arena, which bounds what the PEs of a host can allocate; auto is the host's memory.")
CONFIG(attach,        flag,    "1",     "Reach the memory of other processes that lies outside of the arena through the system (cross-memory attach); 0 sends requests instead.")
CONFIG(backtrace,     flag,    "0",     "Say where a PE that died was executing.")
CONFIG(boot,          text,    "auto",  "Who says which processes are the job: auto looks at what started the program; mpi asks MPI, under any mpiexec.")
CONFIG(channels,      channels, "auto", "How puts on channels go: auto, the best way that there is; message, in messages, as between hosts.")
CONFIG(checked_channels, flag, "0",     "Check each put on a channel: whether the receiver is ready, nothing else is on the way, and the memory is still there.")
CONFIG(direct,        flag,    "1",     "Do one-sided operations by load and store where memory is shared; 0 sends requests for all, as between hosts.")
CONFIG(driver,        text,    "auto",  "What carries packets between hosts: ucx, ofi or mpi; auto takes the first that works.")
CONFIG(driver_path,   text,    "auto",  "Folder of the drivers; auto looks beside the library, then where it was installed.")
CONFIG(exit_grace,    seconds, "5",     "How long PEs may go on computing after skua_exit before the launcher ends them.")
CONFIG(handoff,       flag,    "0",     "A blocking put or accumulate that goes by request returns when its data is on the way; a fence waits for the rest.")
CONFIG(helper,        flag,    "0",     "A thread in each process that serves one-sided requests while its PEs compute.")
CONFIG(idle_spin,     micros,  "50",    "How long an idle PE polls at full speed before it yields its core.")
CONFIG(idle_yield,    micros,  "50",    "How long it then polls and yields before it sleeps.")
CONFIG(inbox_cells,   power,   "512",   "Cells in the ring of arriving messages of each PE; a power of two.")
CONFIG(interfaces,    text,    "auto",  "Network interfaces of the job, such as eth0,ib0; auto is all that are up, or loopback alone in a job on one host.")
CONFIG(launcher,      text,    "auto",  "How skuarun starts its agents on other hosts: ssh, srun, or a command in which %h is the host; auto is srun inside a Slurm job, else ssh.")
CONFIG(linger,        micros,  "50",    "A PE that uses to be back in the runtime so soon after a wait tells others that their puts are done behind its next packet, and lets small packets in a row wait for each other; 0: neither.")
CONFIG(log_level,     level,   "warn",  "fatal, error, warn, info, debug or trace.")
CONFIG(order,         order,   "partial", "What is promised about the order of one-sided operations that do not say: unordered, partial or strict.")
CONFIG(pack,          bytes,   "2k",    "One-sided requests gather pieces up to this size; larger ones are sent in packets of their own.")
CONFIG(packet,        bytes,   "64k",   "Most data in a packet of a one-sided request.")
CONFIG(packet_far,    bytes,   "0",     "The same between hosts; 0: what suits the driver.")
CONFIG(peer_timeout,  seconds, "30",    "A PE on another host is given up when the network has not reached it for so long.")
CONFIG(pin,           text,    "auto",  "Where PEs run: auto (one core each, in order), none, or a list of CPUs such as 0,2,4-7.")
CONFIG(ports,         text,    "any",   "TCP ports that PEs may listen on, such as 5000-5100.")
CONFIG(registrations, count,   "1024",  "Registrations of buffers that nobody uses and a PE keeps, to find them again; the one used longest ago goes first.")
CONFIG(request_pool,  bytes,   "4m",    "Data of one-sided requests that a PE may have on the way; more waits for room.")
CONFIG(rma,           autoflag, "auto",  "Let the driver put and get large pieces between hosts; auto: where the network does it without the target's CPU. 0 sends requests for all.")
CONFIG(rma_atomics,   flag,    "0",     "Let the driver do atomics between hosts: only where no PE of the target's host uses them on the same words.")
CONFIG(rma_least,     bytes,   "32k",   "The driver puts and gets pieces from this size on; smaller ones go by request.")
CONFIG(share,         flag,    "1",     "Processes of a host share memory; 0 keeps them apart, as if each were on a host of its own.")
CONFIG(stack_size,    bytes,   "64k",   "Stack of a user thread that does not ask for a size.")
CONFIG(stats,         flag,    "0",     "Print the counters of every PE at the end of the job.")
CONFIG(stream_buffer, count,   "1024",  "Items of a stream that wait on a PE at most, unless the stream says.")
CONFIG(stream_period, micros,  "0",     "Items of a stream that does not say are sent after so long; 0: when a buffer is full or the PE idle.")
CONFIG(threads,       count,   "1",     "PEs of a program that is started without a launcher, as threads of its process.")
CONFIG(tree_arity,    count,   "4",     "Children of a PE in the spanning trees of broadcasts and reductions.")
CONFIG(zero_copy_host, bytes,  "0",     "Arguments of entries that need not be copied are sent by reference from this size on, to PEs of the same host; 0: as measured.")
CONFIG(zero_copy_net, bytes,   "0",     "The same to PEs of other hosts.")
