/** @module The WebApp operator. */
export * from './api/webapp.ts'
export {
  createWebAppOperator,
  type WebAppOperator,
  type WebAppOperatorOptions,
  webAppOperator,
} from './operator.ts'
export { renderWebApp } from './render/render.ts'
export { validateWebApp } from './validate-webapp.ts'
export { webAppWebhooks } from './webhooks/webhooks.ts'
