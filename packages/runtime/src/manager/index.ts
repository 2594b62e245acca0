/** @module Starts and stops the parts of a process in order. */
export { MANAGER_DEFAULTS } from '../defaults.ts'
export { closeServer, Listener, type ListenOptions } from '../lifecycle/listener.ts'
export * from '../lifecycle/runnable.ts'
export { createManager, Manager, type ManagerOptions, type MetricsAddress, type ServerAddress } from './manager.ts'
export * from './manager-error.ts'
export { type RunUntilSignalOptions, runUntilSignal, type SignalSource } from './run-until-signal.ts'
