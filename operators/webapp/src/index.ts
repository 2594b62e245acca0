/** @module The WebApp operator. */
export * from './api/webapp.ts'
export { renderWebApp } from './render/render.ts'
export { validateWebApp } from './validate-webapp.ts'
