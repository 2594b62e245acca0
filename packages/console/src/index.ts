/** @module The console of an operator: what it knows, and the server that shows it. */
export { ConsoleModel, type ConsoleModelOptions } from './model/console-model.ts'
export type { CountedRequest } from './model/request-counts.ts'
export { type OpenConsoleOptions, type OperatorConsole, openConsole } from './open-console.ts'
export { loadPage, type PageFile, type PageFiles } from './page/page-files.ts'
export { ConsoleServer, type ConsoleServerOptions } from './server/console-server.ts'
