/** The configuration of process modules that a tenant has for injected agents. */
import { HttpConnectionError, HttpDeadlineError } from '@reeve/http'
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import { type ClassicApi, sortedQuery } from './classic-api.ts'
import { refusalOf, TenantResponseError } from './errors.ts'

/** One setting. */
export interface ProcessModuleProperty {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** All settings at one revision; empty when the tenant has none. */
export interface ProcessModuleConfig {
  /** A whole number of up to 64 bits, as text: beyond 2^53 a number would not keep it. */
  readonly revision: string
  readonly properties: readonly ProcessModuleProperty[]
}

/** Options of {@link ProcessModuleCalls.config}. */
export interface ProcessModuleOptions extends CallOptions {
  /** @default none */
  readonly hostGroup?: string
  /** The revision already known; the response is empty when it is still the newest. @default '0' */
  readonly revision?: string
}

const Text = Type.Optional(Type.String())
const Response = Type.Object({
  revision: Type.Optional(Type.String({ pattern: '^[0-9]+$' })),
  properties: Type.Optional(Type.Array(Type.Object({ section: Text, key: Text, value: Text }))),
})

const EMPTY: ProcessModuleConfig = Object.freeze({ revision: '0', properties: [] })

/** Calls about process modules. */
export class ProcessModuleCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /**
   * The configuration; empty for tenants that do not have it (404), when nothing is newer (304), and when there is
   * no response at all: injection must not fail because of an optional refinement.
   */
  async config(options: ProcessModuleOptions = {}): Promise<ProcessModuleConfig> {
    const name = 'process module config'
    const { hostGroup, revision = '0' } = options
    const query = {
      revision,
      sections: 'general,agentType',
      ...(hostGroup && { hostgroup: hostGroup }),
    }
    const call = this.#api.call({
      name,
      path: `/v1/deployment/installer/agent/processmoduleconfig${sortedQuery(query)}`,
      token: 'paas',
      declaresJson: true,
    })
    try {
      const response = await this.#executor.json(Response, call, { ...options, numbersAsText: ['revision'] })
      const properties = (response.properties ?? []).map(({ section = '', key = '', value = '' }) => ({
        section,
        key,
        value,
      }))
      if (properties.length === 0) throw new TenantResponseError(name, 'properties is empty')
      return { revision: response.revision ?? '0', properties }
    } catch (error) {
      if ([304, 404].includes(refusalOf(error)?.status ?? 0)) return EMPTY
      if (!isSilence(error)) throw error
      this.#executor.logger.warn({ call: name, reason: error.message }, 'continuing without a response')
      return EMPTY
    }
  }
}

// A broken response is a failure; no response at all is not.
function isSilence(error: unknown): error is Error {
  return error instanceof HttpDeadlineError || (error instanceof HttpConnectionError && error.phase !== 'response')
}
