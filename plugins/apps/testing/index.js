// The tests of apps do not get this file: the program that runs them gives them the module.
throw new Error('strapi-plugin-apps/testing works in tests that `npx strapi-plugin-apps test` runs');
