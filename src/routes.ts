// Table of contents: every operation, the address that it answers on, and the kind of key that it takes.
import { describeCatalogueRoute } from './analytics/catalogue-route.ts';
import { retrieveAnalyticsRoute } from './analytics/route.ts';
import { addAttributionRoute } from './attribution/route.ts';
import type { Deps } from './deps.ts';
import { grantAccessLevelRoute, revokeAccessLevelRoute } from './grants/route.ts';
import type { Route } from './http/operation.ts';
import { createProfileRoute, deleteProfileRoute, readProfileRoute, updateProfileRoute } from './profile/route.ts';
import { setTransactionRoute } from './purchases/route.ts';
import { listEventsRoute } from './webhooks/feed/route.ts';

export function listRoutes(deps: Deps): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/v1/client-api/metrics/analytics',
      key: 'secret',
      address: 'admin',
      operation: retrieveAnalyticsRoute(deps),
    },
    {
      method: 'GET',
      path: '/api/v1/client-api/metrics/catalog',
      key: 'none',
      address: 'admin',
      operation: describeCatalogueRoute(),
    },
    {
      method: 'POST',
      path: '/api/v2/web-api/attribution',
      key: 'public',
      address: 'base',
      operation: addAttributionRoute(deps),
    },
    {
      method: 'POST',
      path: '/api/v2/server-side-api/purchase/profile/grant/access-level',
      key: 'secret',
      address: 'base',
      operation: grantAccessLevelRoute(deps),
    },
    {
      method: 'POST',
      path: '/api/v2/server-side-api/purchase/profile/revoke/access-level',
      key: 'secret',
      address: 'base',
      operation: revokeAccessLevelRoute(deps),
    },
    {
      method: 'POST',
      path: '/api/v2/server-side-api/purchase/set/transaction',
      key: 'secret',
      address: 'base',
      operation: setTransactionRoute(deps),
    },
    {
      method: 'POST',
      path: '/api/v2/server-side-api/profile',
      key: 'secret',
      address: 'base',
      operation: createProfileRoute(deps),
    },
    {
      method: 'GET',
      path: '/api/v2/server-side-api/profile',
      key: 'secret',
      address: 'base',
      operation: readProfileRoute(deps),
    },
    {
      method: 'PATCH',
      path: '/api/v2/server-side-api/profile',
      key: 'secret',
      address: 'base',
      operation: updateProfileRoute(deps),
    },
    {
      method: 'DELETE',
      path: '/api/v2/server-side-api/profile',
      key: 'secret',
      address: 'base',
      operation: deleteProfileRoute(deps),
    },
    {
      method: 'GET',
      path: '/api/v1/client-api/events',
      key: 'secret',
      address: 'admin',
      operation: listEventsRoute(deps),
    },
  ];
}
