/** Small building blocks of requests. */
import { RequestFailedError } from '../errors.ts'

/** A request that creates `body`. */
export function create(path: string, body: unknown) {
  return { method: 'POST' as const, path, body }
}

/** The result, or `undefined` if the server responded with `status`. */
export async function undefinedOn<T>(status: number, request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof RequestFailedError && error.status === status) return undefined
    throw error
  }
}
