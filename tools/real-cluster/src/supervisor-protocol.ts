/** What a cluster and its supervisor process say to each other over the IPC channel. */

/** To the supervisor: start a component. */
export interface SupervisorRequest {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

/** From the supervisor: what became of a component. */
export type SupervisorReport =
  | { readonly type: 'started'; readonly name: string; readonly pid: number }
  | { readonly type: 'exited'; readonly name: string; readonly how: string }
